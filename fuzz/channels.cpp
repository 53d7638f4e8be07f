// Channels: operations on one channel in any order, each against a plain model: sent, received,
// closed, copied, dropped; futures polled once, polled again, dropped. No value is lost, doubled or
// out of order, and a future that could go on was woken. The first byte says which kind.
#include <cstddef>
#include <cstdint>

#include "broadcast_run.hpp"
#include "input.hpp"
#include "mpsc_run.hpp"
#include "oneshot_run.hpp"
#include "slot.hpp"
#include "unbounded_run.hpp"
#include "watch_run.hpp"

namespace rouse::fuzz {
namespace {

template <class Run>
void run(Input& input) {
  {
    Run run(input);
    while (!input.empty()) run.step();
    run.finish();
  }
  require(Token::alive == 0, "what was sent and not received is destroyed with its channel");
}

void run_any(Input input) {
  switch (input.below(5)) {
    case 0:
      return run<BoundedRun>(input);
    case 1:
      return run<UnboundedRun>(input);
    case 2:
      return run<OneshotRun>(input);
    case 3:
      return run<WatchRun>(input);
    default:
      return run<BroadcastRun>(input);
  }
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run_any(rouse::fuzz::Input(data, size));
  return 0;
}
