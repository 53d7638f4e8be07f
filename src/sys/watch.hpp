// The sys seam, changes of files. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"

namespace rouse::sys {

/// As fs::WatchKind; `ended`: no more will come.
enum class Change : std::uint8_t {
  created,
  modified,
  written,
  attributes,
  moved_from,
  moved_to,
  removed,
  self_moved,
  self_removed,
  unmounted,
  overflow,
  ended,
};
struct ChangeEvent {
  Change change;
  std::string name;
  bool is_dir;
  std::uint32_t cookie;
};

/// A descriptor that is readable when there are events; does not block.
Result<io::OwnedFd> open_watch(const std::string& path) noexcept;
/// Whether what `fd` watches is still there. If it was removed the system says so in an event,
/// which an overflow may have dropped. True if that cannot be known.
bool is_watching(int fd) noexcept;
/// Room for one read; more than one event with the longest name.
inline constexpr std::size_t watch_buffer_size = 16 * 1024;
/// The first event of `bytes`, which were read; and how many bytes it was. Nothing in it: an event
/// that means nothing to us.
std::optional<ChangeEvent> first_event(std::span<const std::byte> bytes, std::size_t& size);

}  // namespace rouse::sys
