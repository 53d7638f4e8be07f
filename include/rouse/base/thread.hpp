// The blocking half of the atomic seam: see base/atomic.hpp.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "rouse/base/atomic.hpp"

namespace rouse {
inline namespace native {

using Mutex = std::mutex;
using CondVar = std::condition_variable;
using Thread = std::thread;
using Lock = std::unique_lock<Mutex>;

}  // namespace native
}  // namespace rouse
