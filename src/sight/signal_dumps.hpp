// SignalDumps: a dump whenever a signal comes (Options::dump_on_signal).
#pragma once

#include <cstdint>
#include <vector>

#include "rouse/io/owned_fd.hpp"
#include "rouse/sight/start.hpp"

#include "sight/duty.hpp"

namespace rouse::sight {

class SignalDumps final : public Duty {
 public:
  SignalDumps(const Options& options, Watch watch);
  std::chrono::nanoseconds look() noexcept override;

 private:
  struct Watched {
    Options::SignalDump dump;
    std::uint64_t seen;
  };

  io::OwnedFd event_;
  std::vector<Watched> signals_;
};

}  // namespace rouse::sight
