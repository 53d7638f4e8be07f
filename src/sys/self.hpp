// The sys seam, this process: who it is, and what it was given. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"

namespace rouse::sys {

std::int64_t process_id() noexcept;
/// Whose rights the process has.
std::uint32_t user() noexcept;
/// Null: there is no such variable, or the program has rights that whoever started it may not have.
/// Not while another thread changes the environment.
const char* trusted_variable(const char* name) noexcept;
/// Bytes that nobody can guess; 256 at most.
ROUSE_API Result<void> fill_randomly(std::span<std::byte> bytes) noexcept;

}  // namespace rouse::sys
