// Trace: what happened in one execution, step by step, and its readable form.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rouse/model/internal/hooks.hpp"

#include "model/knowledge.hpp"

namespace rouse::model {

enum class Op : std::uint8_t {
  load,
  store,
  update,
  exchanged,
  not_exchanged,
  fence,
  spin,
  cell_read,
  cell_guess,
  cell_write,
  lock,
  try_lock_failed,
  unlock,
  wait,
  woken,
  timed_out,
  notify_one,
  notify_all,
  park,
  unparked,
  unpark,
  start,
  join,
  end,
};

class Trace {
 public:
  struct Step {
    ThreadIndex thread;
    Op op;
    std::memory_order order = std::memory_order_relaxed;
    bool is_old = false;  // read: there is a newer value; written: not as the newest one
    const void* object = nullptr;
    std::uint64_t read = 0;
    std::uint64_t written = 0;  // or the other thread
    Where where = {};
  };

  void clear() {
    steps_.clear();
    names_.clear();
  }
  void add(const Step& step) { steps_.push_back(step); }
  void name(const void* object, const char* text) { names_[object] = text; }
  [[nodiscard]] std::string name_of(const void* object, const char* kind) const;
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Step> steps_;
  std::map<const void*, std::string> names_;
};

[[nodiscard]] std::string name_of_thread(ThreadIndex thread);
[[nodiscard]] std::string text_of(const Where& where);

}  // namespace rouse::model
