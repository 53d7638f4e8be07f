#include "rouse/fs/lock.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "rouse/base/internal/durations.hpp"
#include "rouse/time/sleep.hpp"

#include "exec/blocking/call_blocking.hpp"
#include "fs/file_core.hpp"

namespace rouse::fs {

using namespace internal;
namespace {

using std::chrono::milliseconds;
constexpr milliseconds longest_pause(50);

struct Opened {
  explicit Opened(const File& of) : file(of.core().file()), state(of.core().lock_state()) {}

  std::shared_ptr<const sys::File> file;
  std::shared_ptr<sys::FileLockState> state;
};

/// One try. Belongs to the call on the blocking thread and to the future: whoever is left last
/// unlocks what nobody wants any more. The lock is one of the open file, and of all its clones: it
/// stays if another attempt has it, too, or if it was held before.
class Attempt {
 public:
  Attempt(Opened opened, sys::LockKind kind) noexcept : opened_(std::move(opened)), kind_(kind) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (!is_locked_) return;
    const std::lock_guard guard(opened_.state->mutex);
    --opened_.state->attempts;
    if (opened_.state->attempts == 0 && !opened_.state->is_held)
      static_cast<void>(opened_.file->unlock());
  }

  /// On the blocking thread.
  Result<bool> run() noexcept {
    const std::lock_guard guard(opened_.state->mutex);
    const Result<bool> locked = opened_.file->try_lock(kind_);
    is_locked_ = locked && *locked;
    if (is_locked_) ++opened_.state->attempts;
    if (locked && !*locked) opened_.state->is_held = false;  // a lock of another kind is lost then
    return locked;
  }
  /// By the future, which has seen the result.
  void keep() noexcept {
    if (!is_locked_) return;
    const std::lock_guard guard(opened_.state->mutex);
    opened_.state->is_held = true;
  }

 private:
  const Opened opened_;
  const sys::LockKind kind_;
  bool is_locked_ = false;
};

AsyncResult<bool> try_once(Opened opened, sys::LockKind kind) {
  const auto attempt = std::make_shared<Attempt>(std::move(opened), kind);
  auto call = [attempt] { return attempt->run(); };
  const Result<bool> locked = co_await call_blocking(std::move(call)).result();
  attempt->keep();
  co_return locked;
}

AsyncResult<void> lock_until_locked(Opened opened, sys::LockKind kind) {
  for (milliseconds pause(1);; pause = std::min(2 * pause, longest_pause)) {
    const Result<bool> locked = co_await try_once(opened, kind).result();
    if (!locked) co_return locked.error();
    if (*locked) co_return Result<void>();
    co_await sleep(pause);
  }
}

}  // namespace

AsyncResult<void> lock(const File& file) {
  return lock_until_locked(Opened(file), sys::LockKind::exclusive);
}
AsyncResult<void> lock_shared(const File& file) {
  return lock_until_locked(Opened(file), sys::LockKind::shared);
}
AsyncResult<bool> try_lock(const File& file) {
  return try_once(Opened(file), sys::LockKind::exclusive);
}
AsyncResult<bool> try_lock_shared(const File& file) {
  return try_once(Opened(file), sys::LockKind::shared);
}
AsyncResult<void> unlock(const File& file) {
  return call_blocking([opened = Opened(file)] {
    const std::lock_guard guard(opened.state->mutex);
    opened.state->is_held = false;
    return opened.file->unlock();
  });
}

}  // namespace rouse::fs
