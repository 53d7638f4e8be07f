// The reference for the network benchmarks: an echo and an HTTP server as one writes them by hand,
// one thread around a level-triggered epoll, with no more system calls than are needed.
#pragma once

namespace bench {

/// Prints the port of loopback that it serves on, for ever.
[[noreturn]] void serve_with_epoll(bool http);

}  // namespace bench
