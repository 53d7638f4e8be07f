// What sys tells about a file, in the words of fs.
#pragma once

#include "rouse/base/result.hpp"
#include "rouse/fs/metadata.hpp"

#include "sys/file.hpp"

namespace rouse::fs {

/// From the type bits of a mode.
FileType to_file_type(std::uint32_t mode) noexcept;
Result<Metadata> to_metadata(const Result<sys::FileStatus>& status) noexcept;

}  // namespace rouse::fs
