// The thread of sight: waits for descriptors and for time, and has its duties do the rest. It uses
// no malloc once it runs, and no lock that a task may hold for long: so it answers while every
// worker is stuck, also inside malloc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/sight/start.hpp"

#include "exec/task/watching.hpp"
#include "sight/duty.hpp"
#include "sys/poller.hpp"
#include "sys/thread.hpp"

namespace rouse::sight {

class Inspector;

class Sight::Thread {
 public:
  explicit Thread(const Options& options);
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string socket_path() const;

 private:
  template <class P>
  P* add(const Options& options);
  void run(std::span<const int> signals) noexcept;

  /// Threads answer what they poll.
  class Sampled {
   public:
    explicit Sampled(const Options& options);
    Sampled(const Sampled&) = delete;
    Sampled& operator=(const Sampled&) = delete;
    ~Sampled();
  };

  const std::uint32_t process_forks_before_;
  const Sampled sampled_;
  const std::unique_ptr<sys::Poller> poller_;
  std::vector<rouse::internal::Box<Duty>> duties_;
  Inspector* inspector_ = nullptr;  // one of them
  std::optional<rouse::internal::Watching> watching_;
  atomic<bool> is_ending_{false};
  sys::Thread thread_;
};

}  // namespace rouse::sight
