// ReadinessWaiter: a place in the queue of those who wait for a descriptor, a member of the future
// that waits: any number of tasks may wait for one descriptor.
#pragma once

#include <cstdint>

#include "rouse/base/cell.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/ring.hpp"
#include "rouse/core/context.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::internal {

class IoSource;

/// Once it waits it must not be moved.
class ROUSE_API ReadinessWaiter : RingLink {
 public:
  ReadinessWaiter() noexcept = default;
  ReadinessWaiter(ReadinessWaiter&& other) noexcept;
  ~ReadinessWaiter() {
    if (source_ != nullptr) leave();
  }

  /// False: the latest context's waker will be woken when `source` becomes ready for that.
  bool poll(IoSource& source, io::Interest interest, Context& cx, io::Ready& ready);

 private:
  friend class IoSource;
  void leave() noexcept;

  // Guarded by the source's lock while `source_` is set, but for `source_`, which is the future's.
  IoSource* source_ = nullptr;
  Cell<Waker> waker_;
  std::uint64_t since_ = 0;  // the source's tick when it began to wait
  io::Interest interest_ = io::Interest::readable;
  bool is_linked_ = false;  // false: it was taken out to be woken
};

}  // namespace rouse::internal
