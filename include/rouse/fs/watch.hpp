// fs::watch: what happens to a file or in a directory, as a stream (inotify).
//
//   fs::Watch changes = co_await fs::watch("/etc/app");
//   while (auto event = co_await changes.next()) {
//     if (event->kind == fs::WatchKind::written) reload(event->name);
//   }
//
// It begins when `watch` completes. Of a directory it reports its entries, not those of directories
// in it. The stream ends when what is watched was removed, or its file system unmounted. The system
// queues some thousand events (/proc/sys/fs/inotify): if they are not read in time, the rest is
// dropped and WatchKind::overflow says so: look at the directory again. Equal events in a row may
// come as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_fd.hpp"

namespace rouse::fs {

enum class WatchKind : std::uint8_t {
  created,       ///< an entry of the directory
  modified,      ///< bytes were written or the length was changed; more may follow
  written,       ///< a file that was open for writing was closed
  attributes,    ///< permissions, owner, times, links
  moved_from,    ///< the entry was renamed; `cookie` says which moved_to belongs to it
  moved_to,      ///< something was renamed to this entry
  removed,       ///< an entry of the directory
  self_moved,    ///< what is watched was renamed, and is watched on
  self_removed,  ///< what is watched was removed
  unmounted,     ///< its file system is gone
  overflow,      ///< events were lost
};

/// Something that happened.
class WatchEvent {
 public:
  WatchEvent(WatchKind what, std::string which, bool directory, std::uint32_t pair) noexcept
      : kind(what), name(std::move(which)), is_dir(directory), cookie(pair) {}

  WatchKind kind;        ///< what happened
  std::string name;      ///< the entry of the directory; empty: it is about the watched path itself
  bool is_dir;           ///< whether it is about a directory
  std::uint32_t cookie;  ///< the same for moved_from and its moved_to, else 0
};

/// A stream of events. Dropping it ends the watch.
/// Threads: one task at a time.
class ROUSE_API Watch {
 public:
  using Item = WatchEvent;

  explicit Watch(io::AsyncFd io) noexcept : io_(std::move(io)) {}

  /// Throws std::system_error.
  PollNext<WatchEvent> poll_next(Context& cx);
  /// Completes with the next event, or with nothing at the end.
  /// Cancel safety: dropping it loses nothing.
  /// Errors: throws std::system_error: Error::runtime_ended, and the system's.
  Next<Watch> next() noexcept ROUSE_LIFETIMEBOUND { return Next<Watch>(*this); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Watch, nullptr, one, &Watch::io_)

 private:
  Poll<Result<std::size_t>> poll_read(Context& cx);

  io::AsyncFd io_;
  std::vector<std::byte> bytes_;  // events that were read
  std::size_t taken_ = 0;         // of them, the bytes of those that were given
  std::size_t filled_ = 0;
  bool is_gone_ = false;  // what is watched: the stream ends with what was read, or is still queued
  bool has_ended_ = false;
};

/// Completes when the path is watched.
/// Cancel safety: dropping it loses nothing.
/// Threads: tasks of a runtime.
/// Errors: the system's: no_such_file_or_directory, permission_denied; too_many_files_open and
/// no_space_on_device if this user watches too much; operation_canceled if the runtime has ended.
[[nodiscard]] ROUSE_API AsyncResult<Watch> watch(std::string path);

}  // namespace rouse::fs
