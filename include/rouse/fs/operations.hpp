// What is done with files and directories by their paths, each on a blocking thread.
//
//   std::string text = co_await fs::read_to_string("app.conf");
//   co_await fs::write("copy.conf", text);
//
// All of them: complete when the system has done it. Dropped midway, it is done all the same,
// unless the runtime ends before it began; the result is lost. Tasks of a Runtime. Errors: the
// system's (compare with std::errc); operation_canceled if the runtime has ended. None of them
// borrows its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/fs/metadata.hpp"
#include "rouse/io/buffer.hpp"

namespace rouse::fs {

/// All of a file. A string may have any bytes.
ROUSE_API Attempt<std::vector<std::byte>> read(std::string path);
ROUSE_API Attempt<std::string> read_to_string(std::string path);
/// Makes the file if it is not there, else replaces what is in it. Copies `contents` at once.
ROUSE_API Attempt<void> write(std::string path, io::Buffer contents);
/// Contents and permissions; replaces what is in `to`. Gives how many bytes there are. A file
/// copied onto itself is invalid_argument and stays as it is.
ROUSE_API Attempt<std::uint64_t> copy(std::string from, std::string to);

/// Replaces `to`, in one step.
ROUSE_API Attempt<void> rename(std::string from, std::string to);
ROUSE_API Attempt<void> remove_file(std::string path);
ROUSE_API Attempt<void> hard_link(std::string original, std::string link);
/// `link` will refer to `target`, whether that exists or not.
ROUSE_API Attempt<void> symlink(std::string target, std::string link);
ROUSE_API Attempt<std::string> read_link(std::string path);

ROUSE_API Attempt<void> create_dir(std::string path);
/// With the directories above it; those that are there are no error.
ROUSE_API Attempt<void> create_dir_all(std::string path);
/// Must be empty.
ROUSE_API Attempt<void> remove_dir(std::string path);
/// With all that is in it. Links are removed, not followed.
ROUSE_API Attempt<void> remove_dir_all(std::string path);

/// Of what a link refers to.
ROUSE_API Attempt<Metadata> metadata(std::string path);
/// Of the link itself.
ROUSE_API Attempt<Metadata> symlink_metadata(std::string path);
ROUSE_API Attempt<void> set_permissions(std::string path, Permissions permissions);
/// The absolute path without links.
ROUSE_API Attempt<std::string> canonicalize(std::string path);
/// False only if it is known that there is nothing; else why that can't be known.
ROUSE_API Attempt<bool> try_exists(std::string path);

}  // namespace rouse::fs
