// Operations on files and directories by path, each on a blocking thread.
//
//   std::string text = co_await fs::read_to_string("app.conf");
//   co_await fs::write("copy.conf", text);
//
// All of them: complete when the operation is done. None of them borrows its arguments.
// Cancel safety: if dropped midway, the operation is still done, unless the runtime ends before it
// began; the result is lost.
// Threads: tasks of a runtime.
// Errors: the system's (compare with std::errc); operation_canceled if the runtime has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/fs/metadata.hpp"
#include "rouse/io/buffer.hpp"

namespace rouse::fs {

/// Reads a whole file. A string may contain any bytes.
ROUSE_API AsyncResult<std::vector<std::byte>> read(std::string path);
ROUSE_API AsyncResult<std::string> read_to_string(std::string path);
/// Creates the file, or replaces its content. Copies `contents` at once.
ROUSE_API AsyncResult<void> write(std::string path, io::Buffer contents);
/// Copies contents and permissions; replaces the content of `to`. Gives the number of bytes.
/// Copying a file onto itself is invalid_argument and changes nothing.
ROUSE_API AsyncResult<std::uint64_t> copy(std::string from, std::string to);

/// Renames, and replaces `to` atomically.
ROUSE_API AsyncResult<void> rename(std::string from, std::string to);
ROUSE_API AsyncResult<void> remove_file(std::string path);
ROUSE_API AsyncResult<void> hard_link(std::string original, std::string link);
/// `link` will refer to `target`, whether that exists or not.
ROUSE_API AsyncResult<void> symlink(std::string target, std::string link);
ROUSE_API AsyncResult<std::string> read_link(std::string path);

ROUSE_API AsyncResult<void> create_dir(std::string path);
/// Also creates the directories above it; existing ones are no error.
ROUSE_API AsyncResult<void> create_dir_all(std::string path);
/// The names in a directory are on the disk: after a file was created or renamed, so that it is
/// found after a crash.
ROUSE_API AsyncResult<void> sync_dir(std::string path);
/// Must be empty.
ROUSE_API AsyncResult<void> remove_dir(std::string path);
/// Removes a directory with everything in it. Links are removed, not followed.
ROUSE_API AsyncResult<void> remove_dir_all(std::string path);

/// Follows links.
ROUSE_API AsyncResult<Metadata> metadata(std::string path);
/// Does not follow links.
ROUSE_API AsyncResult<Metadata> symlink_metadata(std::string path);
ROUSE_API AsyncResult<void> set_permissions(std::string path, Permissions permissions);
/// The absolute path without links.
ROUSE_API AsyncResult<std::string> canonicalize(std::string path);
/// False only if the path certainly does not exist; otherwise the error says why that is unknown.
ROUSE_API AsyncResult<bool> try_exists(std::string path);

}  // namespace rouse::fs
