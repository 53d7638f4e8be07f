// A stream forwarded to something that is no sink.
// EXPECT-ERROR: this needs a rouse::Sink for such items
#include <vector>

#include "rouse/stream/forward.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/poll_sender.hpp"

void use(std::vector<int>& numbers, rouse::sync::Sender<int>& sender) {
#ifdef FIXED
  auto forwarding =
      rouse::stream::forward(rouse::stream::iter(numbers), rouse::sync::PollSender(sender));
  static_cast<void>(forwarding);
#else
  rouse::stream::forward(rouse::stream::iter(numbers), numbers);
#endif
  static_cast<void>(numbers);
  static_cast<void>(sender);
}
