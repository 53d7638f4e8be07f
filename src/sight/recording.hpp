// Recording: has the recorder run while the thread of sight does, and writes the traces that the
// options ask for (trace_on_slow_poll, trace_on_failure).
#pragma once

#include <cstdint>
#include <string>

#include "rouse/sight/start.hpp"

#include "sight/duty.hpp"

namespace rouse::sight {

class Recording final : public Duty {
 public:
  Recording(const Options& options, Watch watch);
  ~Recording() override;
  std::chrono::nanoseconds look() noexcept override { return std::chrono::nanoseconds::max(); }

  const std::string slow_poll_trace;
  const std::string failure_trace;
  std::uint64_t next_slow_poll_ns = 0;  // a trace after a slow poll is due from then on
  Recording* next = nullptr;            // of all that there are

 private:
  const std::uint32_t number_;
};

}  // namespace rouse::sight
