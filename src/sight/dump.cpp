#include "rouse/sight/dump.hpp"

#include <span>
#include <utility>

#include "exec/task/current.hpp"
#include "sight/formats.hpp"

namespace rouse::sight {
std::chrono::nanoseconds patience_of(const DumpOptions& options) noexcept {
  if (rouse::internal::this_thread.task != nullptr) return std::chrono::nanoseconds(0);
  return options.patience();
}

Report::Report(std::string text, std::string json, std::string folded, std::size_t tasks) noexcept
    : text_(std::move(text)), json_(std::move(json)), folded_(std::move(folded)), tasks_(tasks) {}
Report::~Report() = default;

Report dump(const DumpOptions& options) {
  const Snapshot snapshot(patience_of(options));
  std::string texts[3];
  for (const Format format : {Format::text, Format::json, Format::folded}) {
    Out out(texts[static_cast<std::size_t>(format)]);
    write(out, snapshot, format);
  }
  return Report(std::move(texts[0]), std::move(texts[1]), std::move(texts[2]), snapshot.tasks());
}

namespace {

/// `make_out(room)` says where it goes.
template <class MakeOut>
Result<void> dump_with(const DumpOptions& options, Format format, MakeOut make_out) noexcept {
  constexpr std::size_t size = 65536;
  Snapshot snapshot(patience_of(options));
  char on_stack[512];
  char* const buffer = snapshot.arena().make<char>(size);
  Out out = make_out(buffer == nullptr ? std::span<char>(on_stack) : std::span(buffer, size));
  write(out, snapshot, format);
  return out.flush();
}

}  // namespace

Result<void> dump_to(int fd, Format format, const DumpOptions& options) noexcept {
  return dump_with(options, format,
                   [fd](std::span<char> room) { return Out(fd, room.data(), room.size()); });
}

Result<void> dump_without_blocking(int fd, Format format) noexcept {
  return dump_with({}, format, [fd](std::span<char> room) {
    return Out::without_blocking(fd, std::chrono::seconds(1), room.data(), room.size());
  });
}

}  // namespace rouse::sight
