// How a fault is tried: a scenario through the public API, run again and again on one runtime with
// the first, the second, the third ... use of a call failing, until no use is left to fail.
//
//   Site("accept4", "accept", accept_one).retried({EINTR}).waits({EAGAIN}).try_all();
//
// Each time: what comes out is what is expected; no descriptor, child or task is left; and the same
// runtime completes an exchange over a socket. After the last one the scenario has succeeded
// without a fault, and no thread is left. A case that hangs ends the program with its name. What
// was tried becomes a row of the table that check_table.py makes.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/runtime/runtime.hpp"

#include "faulty/faults.hpp"

namespace rouse::faulty {

/// Ends the program with the name of the case, if that is not over in time. Time in which the whole
/// program is stopped does not count.
class Watchdog {
 public:
  explicit Watchdog(std::string name);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();
};

/// What this process has open: each descriptor and what it is.
std::set<std::string> open_descriptors();
/// Waits until nothing is open but what was; what else there is, if it stays.
std::set<std::string> left_open(const std::set<std::string>& before);
/// No child may be left, running or not.
bool children_are_gone(Runtime& rt);
/// The runtime works, and nothing is left in it and open that was not `before`.
void expect_healthy(Runtime& rt, const std::set<std::string>& before);

/// When it ends there must be no more threads than when it was made.
class ThreadsEnd {
 public:
  ThreadsEnd();
  ThreadsEnd(const ThreadsEnd&) = delete;
  ThreadsEnd& operator=(const ThreadsEnd&) = delete;
  ~ThreadsEnd();

 private:
  std::size_t before_;
};

/// A client and a server exchange a few bytes: whether the runtime works.
Async<void> echo();
/// The same in one task, which therefore meets every error itself.
Async<void> exchange();

std::string name_of_error(int error);

/// What the scenario did: nothing, or the error it reported. Throws what is no error of the system.
std::error_code outcome_of(const std::function<void()>& scenario);

/// A line of the table.
void add_row(std::string_view call, std::string_view error, std::string_view scenario, long sites,
             std::string_view outcome);

enum class On { current_thread, two_workers };
Runtime make_runtime(On kind);

class Site {
 public:
  using Errors = std::initializer_list<int>;
  using Scenario = std::function<void(Runtime&)>;

  Site(std::string_view call, std::string_view scenario_name, Scenario scenario)
      : call_(call), name_(scenario_name), scenario_(std::move(scenario)) {}
  /// The scenario is a coroutine function that is awaited on the runtime.
  Site(std::string_view call, std::string_view scenario_name, Async<void> (*scenario)())
      : Site(call, scenario_name, [scenario](Runtime& rt) { rt.block_on(scenario()); }) {}

  // What is expected of these errors, instead of that they are reported: success, and why.
  Site& retried(Errors errors) { return expect(errors, "called again"); }
  Site& waits(Errors errors) { return expect(errors, "waits for readiness"); }
  Site& passed_over(Errors errors) { return expect(errors, "the next connection is accepted"); }
  Site& backs_off(Errors errors) { return expect(errors, "tried again after a pause"); }
  Site& ignored(Errors errors, const std::string& why) { return expect(errors, why); }
  /// All of them.
  Site& ignored(std::string why) {
    default_ = std::move(why);
    return *this;
  }
  /// Another error is reported.
  Site& reported_as(int error, std::error_code code, std::string why);
  /// Not tried here, but by a test of its own or in another row.
  Site& except(Errors errors) {
    left_out_.insert(errors.begin(), errors.end());
    return *this;
  }
  /// Instead of whatever else is expected: decides itself.
  Site& checked_by(std::function<void(int error, std::error_code)> check, std::string outcome) {
    check_ = std::move(check);
    default_ = std::move(outcome);
    return *this;
  }
  /// Only on this kind of runtime.
  Site& only_on(On kind) {
    kinds_ = {kind};
    return *this;
  }
  /// Only these uses of the call, of those that the scenario makes.
  Site& only_first(long uses) {
    first_uses_ = uses;
    return *this;
  }

  /// All documented errors, each at every use, on both kinds of runtimes.
  void try_all();
  /// One byte (or message) at a time: everything arrives.
  void try_short();

 private:
  struct Expected {
    std::error_code code;
    std::string why;
  };
  Site& expect(Errors errors, const std::string& why);
  void try_error(On kind, Runtime& rt, int error);
  /// False: the scenario does not make this use of the call.
  bool try_use(Runtime& rt, const Fault& fault, int error, const std::string& label);
  void check(int error, std::error_code code) const;
  [[nodiscard]] std::string outcome_text(int error) const;

  std::string_view call_;
  std::string name_;
  Scenario scenario_;
  std::map<int, Expected> expected_;
  std::string default_;  // empty: reported
  std::set<int> left_out_;
  std::function<void(int, std::error_code)> check_;
  std::vector<On> kinds_{On::current_thread, On::two_workers};
  std::optional<long> first_uses_;
};

}  // namespace rouse::faulty
