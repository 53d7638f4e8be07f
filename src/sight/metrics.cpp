// The text format of Prometheus: the samples of a metric stand together, below what it means.
#include "sight/metrics.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/sight/metrics.hpp"

#include "exec/task/examinable.hpp"
#include "exec/task/watching.hpp"
#include "exec/task/worker_watch.hpp"
#include "sight/formats.hpp"
#include "sight/sites.hpp"
#include "sight/slow_polls.hpp"
#include "sys/describe_code.hpp"

namespace rouse::sight {
namespace {

using rouse::internal::EveryScheduler;
using rouse::internal::Examinable;
using rouse::internal::Histogram;
using rouse::internal::SchedulerMetrics;
using rouse::internal::WorkerWatch;

enum class Type : std::uint8_t { counter, gauge };
enum class Unit : std::uint8_t { one, seconds };

struct Family {
  std::string_view name;
  Type type;
  std::string_view help;
  Unit unit = Unit::one;
};

/// Of each worker; a LocalExecutor is one.
struct WorkerFamily {
  Family family;
  std::uint64_t (*value)(const WorkerMetrics&);
};
std::uint64_t ns_of(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}
constexpr WorkerFamily of_workers[] = {
    {{"rouse_worker_busy_seconds_total", Type::counter, "Time that the worker was not parked.",
      Unit::seconds},
     [](const WorkerMetrics& worker) { return ns_of(worker.busy); }},
    {{"rouse_worker_polls_total", Type::counter, "Polls of tasks."},
     [](const WorkerMetrics& worker) { return worker.polls; }},
    {{"rouse_worker_mean_poll_seconds", Type::gauge,
      "What a poll takes of late, with what is done between polls; 0: not known yet.",
      Unit::seconds},
     [](const WorkerMetrics& worker) { return ns_of(worker.mean_poll); }},
    {{"rouse_worker_parks_total", Type::counter, "How often the worker went to sleep."},
     [](const WorkerMetrics& worker) { return worker.parks; }},
    {{"rouse_worker_idle_wakes_total", Type::counter,
      "How often it slept again without having polled."},
     [](const WorkerMetrics& worker) { return worker.idle_wakes; }},
    {{"rouse_worker_parked", Type::gauge, "1: it sleeps."},
     [](const WorkerMetrics& worker) { return std::uint64_t{worker.is_parked}; }},
    {{"rouse_worker_steals_total", Type::counter, "Successful steals."},
     [](const WorkerMetrics& worker) { return worker.steals; }},
    {{"rouse_worker_stolen_tasks_total", Type::counter, "Tasks that these steals took."},
     [](const WorkerMetrics& worker) { return worker.stolen_tasks; }},
    {{"rouse_worker_timers_fired_total", Type::counter, "Timers that the worker fired."},
     [](const WorkerMetrics& worker) { return worker.timers_fired; }},
    {{"rouse_worker_budgets_used_up_total", Type::counter,
      "Polls that had to end because the task had used up its budget."},
     [](const WorkerMetrics& worker) { return worker.budgets_used_up; }},
    {{"rouse_worker_queue_depth", Type::gauge, "Tasks in the worker's own queue."},
     [](const WorkerMetrics& worker) { return std::uint64_t{worker.local_queue_depth}; }},
};

/// Of each executor for which `is_there`.
struct SchedulerFamily {
  Family family;
  bool (*is_there)(const Examinable&, const SchedulerMetrics&);
  std::uint64_t (*value)(const SchedulerMetrics&);
};
bool runs_tasks(const Examinable& scheduler, const SchedulerMetrics&) {
  return scheduler.kind() != Examinable::Kind::blocking;
}
bool has_injection(const Examinable& scheduler, const SchedulerMetrics&) {
  return scheduler.kind() == Examinable::Kind::pool;
}
bool is_blocking(const Examinable& scheduler, const SchedulerMetrics&) {
  return scheduler.kind() == Examinable::Kind::blocking;
}
bool has_io(const Examinable&, const SchedulerMetrics& metrics) { return metrics.has_io; }
constexpr SchedulerFamily of_schedulers[] = {
    {{"rouse_spawned_tasks_total", Type::counter, "Tasks spawned."},
     runs_tasks,
     [](const SchedulerMetrics& metrics) { return metrics.spawned_tasks; }},
    {{"rouse_tasks_alive", Type::gauge, "Tasks that are not done."},
     runs_tasks,
     [](const SchedulerMetrics& metrics) { return metrics.alive_tasks; }},
    {{"rouse_injected_tasks_total", Type::counter,
      "Spawns and wakes that came from outside the workers."},
     has_injection,
     [](const SchedulerMetrics& metrics) { return metrics.injected_tasks; }},
    {{"rouse_injection_queue_depth", Type::gauge, "Those that wait for a worker."},
     has_injection,
     [](const SchedulerMetrics& metrics) { return std::uint64_t{metrics.injection_queue_depth}; }},
    {{"rouse_io_sources", Type::gauge, "Descriptors that are watched."},
     has_io,
     [](const SchedulerMetrics& metrics) { return std::uint64_t{metrics.io.sources}; }},
    {{"rouse_io_ready_events_total", Type::counter, "How often the system said that one is ready."},
     has_io,
     [](const SchedulerMetrics& metrics) { return metrics.io.ready_events; }},
    {{"rouse_blocking_threads", Type::gauge, "Threads for blocking calls."},
     is_blocking,
     [](const SchedulerMetrics& metrics) { return std::uint64_t{metrics.blocking.threads}; }},
    {{"rouse_blocking_idle_threads", Type::gauge, "Those without a call."},
     is_blocking,
     [](const SchedulerMetrics& metrics) { return std::uint64_t{metrics.blocking.idle_threads}; }},
    {{"rouse_blocking_queue_depth", Type::gauge, "Calls that wait for a thread."},
     is_blocking,
     [](const SchedulerMetrics& metrics) { return std::uint64_t{metrics.blocking.queue_depth}; }},
    {{"rouse_blocking_calls_total", Type::counter, "Blocking calls that were accepted."},
     is_blocking,
     [](const SchedulerMetrics& metrics) { return metrics.blocking.calls; }},
};

/// Of each spawn site.
struct SiteFamily {
  Family family;
  std::uint64_t (*value)(const MergedSite&);
};
constexpr SiteFamily of_sites[] = {
    {{"rouse_site_polls_total", Type::counter, "Polls of tasks that were spawned here."},
     [](const MergedSite& site) { return site.polls; }},
    {{"rouse_site_busy_seconds_total", Type::counter, "Time in these polls.", Unit::seconds},
     [](const MergedSite& site) { return site.busy_ns; }},
    {{"rouse_site_ended_tasks_total", Type::counter, "Of these tasks, those that ended."},
     [](const MergedSite& site) { return site.tasks; }},
    {{"rouse_site_longest_poll_seconds", Type::gauge, "The longest of these polls.", Unit::seconds},
     [](const MergedSite& site) { return site.longest_ns; }},
};
constexpr std::size_t most_sites = 200;

/// A bucket ends below 256 ns, then below each doubling, up to 69 s.
constexpr unsigned first_bucket = 8;
constexpr unsigned last_bucket = 36;

class Writer {
 public:
  explicit Writer(Out& out) noexcept : out_(out) {}

  void write() {
    begin({"rouse_executor_info", Type::gauge, "1: the executor of this number, and its kind."});
    each([this](const Examinable& scheduler) {
      out_.put("rouse_executor_info{pool=\"").put(scheduler.number());
      out_.put("\",kind=\"").put(name_of(scheduler.kind())).put("\"} 1\n");
    });
    for (const WorkerFamily& family : of_workers) write(family);
    for (const SchedulerFamily& family : of_schedulers) write(family);
    begin({"rouse_block_pool_bytes", Type::gauge,
           "Memory of the pool that tasks and coroutines come from."});
    out_.put("rouse_block_pool_bytes ").put(rouse::internal::block_pool_bytes()).put('\n');
    begin({"rouse_watched", Type::gauge, "1: what follows is measured."});
    out_.put("rouse_watched ").put(std::uint64_t{rouse::internal::is_watching()}).put('\n');
    write_histograms("rouse_poll_seconds", "What a poll takes.", &WorkerWatch::polls);
    write_histograms("rouse_sched_delay_seconds", "From a wake to the poll, of one wake in 32.",
                     &WorkerWatch::delays);
    write_sites();
    write_slow_places();
  }

 private:
  void begin(const Family& family) {
    out_.put("# HELP ").put(family.name).put(' ').put(family.help);
    out_.put("\n# TYPE ").put(family.name);
    out_.put(family.type == Type::counter ? " counter\n" : " gauge\n");
  }

  template <class Fn>
  static void each(Fn&& fn) {
    EveryScheduler schedulers;
    while (const Examinable* const scheduler = schedulers.next()) fn(*scheduler);
  }

  void put(std::uint64_t value, Unit unit) {
    if (unit == Unit::one) {
      out_.put(value);
    } else {
      put_seconds(value);
    }
  }
  void put_seconds(std::uint64_t ns) {
    constexpr std::uint64_t second = 1'000'000'000;
    out_.put(ns / second);
    char decimals[10] = ".";
    std::uint64_t rest = ns % second;
    for (std::size_t i = 9; i != 0; --i, rest /= 10)
      decimals[i] = static_cast<char>('0' + rest % 10);
    out_.put(std::string_view(decimals, sizeof decimals));
  }

  void write(const WorkerFamily& family) {
    begin(family.family);
    each([&](const Examinable& scheduler) {
      for (std::size_t i = 0; i < scheduler.workers(); ++i) {
        out_.put(family.family.name).put("{pool=\"").put(scheduler.number());
        out_.put("\",worker=\"").put(std::uint64_t{i}).put("\"} ");
        put(family.value(scheduler.worker(i)), family.family.unit);
        out_.put('\n');
      }
    });
  }

  void write(const SchedulerFamily& family) {
    begin(family.family);
    each([&](const Examinable& scheduler) {
      const SchedulerMetrics metrics = scheduler.figures();
      if (!family.is_there(scheduler, metrics)) return;
      out_.put(family.family.name).put("{pool=\"").put(scheduler.number()).put("\"} ");
      put(family.value(metrics), family.family.unit);
      out_.put('\n');
    });
  }

  void write_histograms(std::string_view name, std::string_view help,
                        Histogram WorkerWatch::* which) {
    out_.put("# HELP ").put(name).put(' ').put(help);
    out_.put("\n# TYPE ").put(name).put(" histogram\n");
    each([&](const Examinable& scheduler) { write_histogram(name, scheduler, which); });
  }
  void write_histogram(std::string_view name, const Examinable& scheduler,
                       Histogram WorkerWatch::* which) {
    std::array<std::uint64_t, Histogram::size> counts{};
    std::uint64_t sum_ns = 0;
    bool is_there = false;
    const WorkerWatch* watch = nullptr;
    for (std::size_t i = 0; scheduler.find_watch(i, watch); ++i) {
      if (watch == nullptr) continue;
      is_there = true;
      const Histogram& histogram = watch->*which;
      sum_ns += histogram.sum_ns();
      for (std::size_t step = 0; step < counts.size(); ++step)
        counts[step] += histogram.count(step);
    }
    if (!is_there) return;
    std::uint64_t count = 0;
    std::size_t step = 0;
    const auto put_name = [&](std::string_view suffix) -> Out& {
      return out_.put(name).put(suffix).put("{pool=\"").put(scheduler.number()).put('"');
    };
    for (unsigned bucket = first_bucket; bucket <= last_bucket; ++bucket) {
      const std::uint64_t end = std::uint64_t{1} << bucket;
      while (step < Histogram::step_of(end)) count += counts[step++];
      put_name("_bucket").put(",le=\"");
      put_seconds(end - 1);  // durations are whole nanoseconds
      out_.put("\"} ").put(count).put('\n');
    }
    while (step < counts.size()) count += counts[step++];
    put_name("_bucket").put(",le=\"+Inf\"} ").put(count).put('\n');
    put_name("_sum").put("} ");
    put_seconds(sum_ns);
    out_.put('\n');
    put_name("_count").put("} ").put(count).put('\n');
  }

  void write_sites() {
    const MergedSites merged;
    const std::size_t shown =
        merged.sites().size() < most_sites ? merged.sites().size() : most_sites;
    const MergedSite others = merged.others_from(shown);
    for (const SiteFamily& family : of_sites) {
      begin(family.family);
      for (const MergedSite& site : merged.sites().first(shown)) {
        out_.put(family.family.name);
        put_labels(site);
        put(family.value(site), family.family.unit);
        out_.put('\n');
      }
      if (others.polls == 0) continue;
      out_.put(family.family.name).put("{site=\"others\",function=\"\",name=\"\"} ");
      put(family.value(others), family.family.unit);
      out_.put('\n');
    }
  }
  void put_labels(const MergedSite& site) {
    put_site(site.place.source(), site.place.code(), "unknown");
    out_.put(",name=\"").put_label(site.name == nullptr ? "" : site.name).put("\"} ");
  }
  void put_site(const std::source_location& source, std::uintptr_t code, std::string_view if_none) {
    out_.put("{site=\"");
    if (code != 0) {
      const sys::CodePlace place = sys::place_of_code(code);
      out_.put_label(place.module == nullptr ? "" : place.module);
      out_.put('+').put_hex(place.offset);
    } else if (source.line() == 0) {
      out_.put(if_none);
    } else {
      out_.put_label(source.file_name());
      out_.put(':').put(std::uint64_t{source.line()}).put(':').put(std::uint64_t{source.column()});
    }
    out_.put("\",function=\"").put_label(source.function_name()).put('"');
  }

  void write_slow_places() {
    write_slow_places({"rouse_slow_polls_total", Type::counter,
                       "Polls that took long, by the last await of the task."},
                      &SlowPlace::polls);
    write_slow_places({"rouse_slow_poll_longest_seconds", Type::gauge,
                       "At least what the longest of these took.", Unit::seconds},
                      &SlowPlace::longest_ns);
  }
  void write_slow_places(const Family& family, std::uint64_t SlowPlace::* which) {
    begin(family);
    slow_polls().for_each_place([&](const SlowPlace& place) {
      out_.put(family.name);
      put_site(place.where, place.code, "others");
      out_.put("} ");
      put(place.*which, family.unit);
      out_.put('\n');
    });
  }

  Out& out_;
};

}  // namespace

void write_metrics(Out& out) { Writer(out).write(); }

std::string metrics_text() {
  std::string text;
  Out out(text);
  write_metrics(out);
  return text;
}

}  // namespace rouse::sight
