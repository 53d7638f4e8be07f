// What the inspector tells besides dumps. Each writes a whole answer, without malloc:
//
//   write_metrics      Prometheus text: rouse_worker_busy_seconds_total{pool="1",worker="0"},
//                      rouse_worker_polls_total{...}, rouse_tasks_alive{...}, ...
//   write_sites        {"format":1,"sites":[{"tasks":3,"polls":1200,"busy_ns":51000000,
//                        "longest_ns":9000000,"longest_at":PLACE,"name":"session",
//                        "spawned":PLACE or CODE}, ...],"others":{...}}
//   write_slow_polls   [{"seen_at_ns":1,"duration_ns":34000000,"task":4711,"name":"session",
//                        "doing":"computing","system_call":"read","fd":4,"at":[PLACE, ...],
//                        "stack":[CODE, ...]}, ...]
//   write_trace        a trace in Chrome's JSON
//
// PLACE is {"file","line","function"}, CODE is {"module","offset","function"}, as in a dump. Names,
// places and calls may be missing. An empty list: nobody watches, or there is nothing yet.
#pragma once

#include "sight/metrics.hpp"   // IWYU pragma: export
#include "sight/trace.hpp"     // IWYU pragma: export
#include "sight/watchdog.hpp"  // IWYU pragma: export
