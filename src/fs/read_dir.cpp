#include "rouse/fs/read_dir.hpp"

#include <cstddef>
#include <vector>

#include "exec/blocking/call_blocking.hpp"
#include "fs/status.hpp"
#include "sys/file_system.hpp"

namespace rouse::internal {
namespace {

constexpr std::size_t entries_a_hop = 32;

/// Travels to the blocking thread and comes back with entries.
struct Chunk {
  explicit Chunk(sys::Directory opened) noexcept : directory(std::move(opened)) {}

  sys::Directory directory;
  std::vector<sys::Directory::Entry> entries;
  std::size_t taken = 0;  // of the entries, from the first on
  bool is_last = false;
  std::error_code error;  // after the entries
};

void fill(Chunk& chunk) {
  chunk.entries.clear();
  chunk.taken = 0;
  while (chunk.entries.size() < entries_a_hop) {
    auto next = chunk.directory.next();
    chunk.is_last = !next || !*next;
    if (!next) chunk.error = next.error();
    if (chunk.is_last) return;
    chunk.entries.push_back(**std::move(next));
  }
}

}  // namespace

class ReadDirCore {
 public:
  ReadDirCore(std::string path, sys::Directory directory)
      : path_(std::move(path)), chunk_(std::in_place, std::move(directory)) {
    if (!path_.ends_with('/')) path_ += '/';
  }

  Poll<Result<std::optional<fs::DirEntry>>> poll_next(Context& cx) {
    for (;;) {
      if (call_ && poll_chunk(cx).is_pending()) return pending;
      if (chunk_ && chunk_->taken != chunk_->entries.size()) {
        if (!cx.take_budget()) return pending;
        return give(take_entry());
      }
      if (!chunk_ || chunk_->is_last) return give_end();
      start();
    }
  }

 private:
  using Given = Result<std::optional<fs::DirEntry>>;

  static Poll<Given> give(Given given) { return Poll<Given>::ready(std::move(given)); }

  /// The error, once; then the end.
  Poll<Given> give_end() {
    const std::error_code error = std::exchange(error_, std::error_code());
    chunk_.reset();
    return give(error ? Given(error) : Given(std::optional<fs::DirEntry>()));
  }

  fs::DirEntry take_entry() {
    sys::Directory::Entry& entry = chunk_->entries[chunk_->taken];
    std::optional<fs::FileType> type;
    if (entry.type != 0) type = fs::to_file_type(entry.type);
    std::string path = path_ + entry.name;
    ++chunk_->taken;
    return fs::DirEntry(std::move(path), std::move(entry.name), type);
  }

  void start() {
    auto call = [chunk = *std::move(chunk_)]() mutable -> Result<Chunk> {
      fill(chunk);
      return std::move(chunk);
    };
    chunk_.reset();
    call_.emplace(spawn_blocking(std::move(call)));
  }

  Poll<> poll_chunk(Context& cx) {
    auto call = std::exchange(call_, std::nullopt);  // if this throws, that was all
    auto polled = poll_blocking(*call, cx);
    if (polled.is_pending()) {
      call_ = std::move(call);
      return pending;
    }
    if (!polled.value()) {
      error_ = polled.value().error();
      return Poll<>::ready();
    }
    chunk_.emplace(*std::move(polled.value()));
    error_ = chunk_->error;
    return Poll<>::ready();
  }

  std::string path_;            // ends with a slash
  std::optional<Chunk> chunk_;  // nothing: a call has it, or that was all
  std::optional<JoinHandle<Result<Chunk>>> call_;
  std::error_code error_;  // comes after the entries
};

}  // namespace rouse::internal

namespace rouse::fs {

using namespace internal;

AsyncResult<FileType> DirEntry::file_type() const {
  if (type_) co_return *type_;
  const Metadata found = co_await metadata();
  co_return found.file_type();
}

AsyncResult<Metadata> DirEntry::metadata() const {
  return call_blocking(
      [path = path_] { return to_metadata(sys::status(path, sys::Links::dont_follow)); });
}

ReadDir::ReadDir(internal::Box<ReadDirCore> core) noexcept : core_(std::move(core)) {}
ReadDir::ReadDir(ReadDir&& other) noexcept = default;
ReadDir& ReadDir::operator=(ReadDir&& other) noexcept = default;
ReadDir::~ReadDir() = default;

Poll<Result<std::optional<DirEntry>>> ReadDir::poll_next_result(Context& cx) {
  ROUSE_ASSERT(core_, "a ReadDir was read after it was moved from");
  return core_->poll_next(cx);
}

Poll<std::optional<DirEntry>> ReadDir::poll_next(Context& cx) {
  auto polled = poll_next_result(cx);
  if (polled.is_pending()) return pending;
  return Poll<std::optional<DirEntry>>::ready(std::move(polled.value()).value());
}

AsyncResult<ReadDir> read_dir(std::string path) {
  return call_blocking([path = std::move(path)]() mutable -> Result<ReadDir> {
    auto directory = sys::Directory::open(path);
    if (!directory) return directory.error();
    return ReadDir(internal::make_box<ReadDirCore>(std::move(path), *std::move(directory)));
  });
}

}  // namespace rouse::fs
