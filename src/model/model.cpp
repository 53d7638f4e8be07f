// The public face, and the loop over executions.
#include "rouse/model/model.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "rouse/base/assert.hpp"

#include "model/crash.hpp"
#include "model/execution.hpp"
#include "sys/console.hpp"

namespace rouse::model {
namespace {

void count(Report& report, const Execution& execution, Execution::Outcome outcome) {
  ++(outcome == Execution::Outcome::known ? report.cut_short : report.executions);
  report.steps += execution.steps();
  report.finding = execution.finding();
}

void explore_random(Search& search, Execution& execution, const std::function<void()>& body,
                    Report& report) {
  search.choices.begin(Choices::Mode::random, search.options.seed);
  while (report.executions < search.options.random_runs && !report.finding) {
    count(report, execution, execution.run(body));
  }
}

void replay(Search& search, Execution& execution, const std::function<void()>& body,
            Report& report) {
  ROUSE_ASSERT(search.choices.begin_replay(search.options.replay),
               "that is no replay string: copy what the report of the model checker says");
  count(report, execution, execution.run(body));
}

void explore_all(Search& search, Execution& execution, const std::function<void()>& body,
                 Report& report) {
  search.choices.begin(Choices::Mode::search);
  while (!report.finding && report.executions + report.cut_short < search.options.max_executions) {
    search.must_restart = false;
    count(report, execution, execution.run(body));
    if (search.must_restart) {
      search.choices.begin(Choices::Mode::search);
      search.visited.clear();
    } else if (!search.choices.next()) {
      report.complete = !report.finding;
      return;
    }
  }
}

Options from_environment(Options options) {
  const auto number = [](const char* name, auto& out) {
    if (const char* text = std::getenv(name)) {
      out = static_cast<std::remove_reference_t<decltype(out)>>(std::strtoull(text, nullptr, 10));
    }
  };
  if (const char* text = std::getenv("ROUSE_MODEL_REPLAY")) options.replay = text;
  if (const char* text = std::getenv("ROUSE_MODEL_LEAVE_OUT")) options.leave_out = text;
  if (std::getenv("ROUSE_MODEL_ORDERS") != nullptr) options.collect_orders = true;
  number("ROUSE_MODEL_RANDOM", options.random_runs);
  number("ROUSE_MODEL_SEED", options.seed);
  number("ROUSE_MODEL_BOUND", options.preemption_bound);
  return options;
}

}  // namespace

const char* to_string(Problem problem) noexcept {
  switch (problem) {
    case Problem::data_race:
      return "data race";
    case Problem::deadlock:
      return "deadlock, or a lost wakeup";
    case Problem::livelock:
      return "livelock";
    case Problem::leak:
      return "leak";
    case Problem::use_after_free:
      return "use after free";
    case Problem::bad_free:
      return "bad free";
    case Problem::exception:
      return "uncaught exception";
    case Problem::failed_ensure:
      return "failed ensure";
    case Problem::failed_assert:
      return "failed assertion";
    case Problem::crash:
      return "crash";
    case Problem::misuse:
      return "misuse";
    case Problem::not_deterministic:
      return "not deterministic";
  }
  return "?";
}

std::string Report::summary() const {
  char numbers[160];
  std::snprintf(
      numbers, sizeof numbers, "%llu executions, %llu cut short, %llu steps, %.2f s, %s\n",
      static_cast<unsigned long long>(executions), static_cast<unsigned long long>(cut_short),
      static_cast<unsigned long long>(steps), seconds, complete ? "complete" : "not complete");
  if (!finding) return numbers;
  return std::string("model checker: ") + to_string(finding->problem) + ": " + finding->message +
         "\n" + finding->trace + "  replay: ROUSE_MODEL_REPLAY=" + finding->replay + "\n  " +
         numbers;
}

Report explore(const std::function<void()>& body, const Options& options) {
  ROUSE_ASSERT(running.execution == nullptr, "a model was started while another one runs");
  for (const unsigned bound : {options.preemption_bound, options.old_value_bound}) {
    ROUSE_ASSERT(bound <= Left::most || bound == Options::unbounded,
                 "the bounds of a model are at most 14, or Options::unbounded");
  }
  const auto start = std::chrono::steady_clock::now();
  const CatchCrashes catch_crashes;
  Report report;
  const auto search = std::make_unique<Search>();
  search->options = options;
  if (!options.leave_out.empty()) {
    ROUSE_ASSERT(search->orders.leave_out(options.leave_out),
                 "an order to be left out is named as FILE:LINE:COLUMN:acquire, ...:release, "
                 "...:seq_cst, ...:failure-acquire or ...:failure-seq_cst");
  }
  if (options.collect_orders) search->orders.collect();
  const auto execution = std::make_unique<Execution>(*search);
  if (!options.replay.empty()) {
    replay(*search, *execution, body, report);
  } else if (options.random_runs != 0) {
    explore_random(*search, *execution, body, report);
  } else {
    explore_all(*search, *execution, body, report);
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  report.seconds = time.count();
  report.orders = search->orders.collected();
  return report;
}

void check(const std::function<void()>& body, const Options& options) {
  const Options used = from_environment(options);
  const Report report = explore(body, used);
  for (const std::string& order : report.orders) sys::write_stderr("order " + order + "\n");
  const bool is_search = used.replay.empty() && used.random_runs == 0;
  if (std::getenv("ROUSE_MODEL_STATS") != nullptr) sys::write_stderr(report.summary());
  if (!report.finding && (report.complete || !is_search)) return;
  sys::write_stderr(report.summary());
  if (!report.finding) {
    sys::write_stderr(
        "model checker: the model is too large: make it smaller, lower the preemption bound, "
        "or set random_runs\n");
  }
  sys::abort_process();
}

void ensure(bool condition, const char* message, std::source_location where) noexcept {
  if (condition) return;
  ROUSE_ASSERT(inside(), "model::ensure was called outside of a model");
  running.in_thread = false;
  running.execution->fail(Problem::failed_ensure,
                          std::string(message) + " (" + text_of(where) + ")");
}

void outside(const std::function<void()>& call) {
  if (!inside()) return call();
  const InEngine in_engine;
  call();
}

void name(const void* object, const char* text) {
  if (!inside()) return;
  const InEngine in_engine;
  running.execution->trace.name(object, text);
}

void misused(const char* message) noexcept {
  ROUSE_ASSERT(inside(), message);
  running.in_thread = false;
  running.execution->fail(Problem::misuse, message);
}

}  // namespace rouse::model
