// The formats of a dump.
#pragma once

#include "rouse/sight/dump.hpp"

#include "sight/out.hpp"
#include "sight/snapshot.hpp"

namespace rouse::sight {

void write_text(Out& out, const Snapshot& snapshot);
/// Parts of it.
void write_text(Out& out, const Snapshot& snapshot, const Deadlock& deadlock, std::uint64_t number);
void write_text(Out& out, const Snapshot& snapshot, const Group& group);
void write_json(Out& out, const Snapshot& snapshot);
void write_folded(Out& out, const Snapshot& snapshot);
void write(Out& out, const Snapshot& snapshot, Format format);

/// For the thread of sight: as dump_to, but it never blocks in the descriptor.
Result<void> dump_without_blocking(int fd, Format format) noexcept;

/// A task waits for nobody: others may wait for it.
std::chrono::nanoseconds patience_of(const DumpOptions& options) noexcept;

/// "idle", "pool" and so on: the same words in all formats.
std::string_view name_of(rouse::internal::SeenTask::State state) noexcept;
std::string_view name_of(rouse::internal::Examinable::Kind kind) noexcept;
std::string_view name_of(Wait kind) noexcept;
/// Of an opaque one its type; of one without a label its kind.
std::string_view label_of(const Shape& shape) noexcept;

}  // namespace rouse::sight
