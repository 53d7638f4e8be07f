// The reference for the network benchmarks: an echo and an HTTP server as one writes them by hand,
// one thread around a level-triggered epoll, with no more system calls than are needed.
#pragma once

namespace bench {

/// Serves for ever on a listening, non-blocking socket.
void serve_with_epoll(int listener, bool http);

}  // namespace bench
