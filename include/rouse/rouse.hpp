// All of rouse: a contents page.
#pragma once

// Vocabulary without async.
#include "rouse/base/result.hpp"  // IWYU pragma: export
#include "rouse/version.hpp"      // IWYU pragma: export

// The poll model.
#include "rouse/core/any_future.hpp"    // IWYU pragma: export
#include "rouse/core/async.hpp"         // IWYU pragma: export
#include "rouse/core/async_stream.hpp"  // IWYU pragma: export
#include "rouse/core/atomic_waker.hpp"  // IWYU pragma: export
#include "rouse/core/attempt.hpp"       // IWYU pragma: export
#include "rouse/core/context.hpp"       // IWYU pragma: export
#include "rouse/core/future.hpp"        // IWYU pragma: export
#include "rouse/core/poll.hpp"          // IWYU pragma: export
#include "rouse/core/stream.hpp"        // IWYU pragma: export
#include "rouse/core/waker.hpp"         // IWYU pragma: export

// Futures and combinators.
#include "rouse/future/and_then.hpp"           // IWYU pragma: export
#include "rouse/future/futures_unordered.hpp"  // IWYU pragma: export
#include "rouse/future/join.hpp"               // IWYU pragma: export
#include "rouse/future/join_all.hpp"           // IWYU pragma: export
#include "rouse/future/lazy.hpp"               // IWYU pragma: export
#include "rouse/future/map.hpp"                // IWYU pragma: export
#include "rouse/future/pending_forever.hpp"    // IWYU pragma: export
#include "rouse/future/poll_fn.hpp"            // IWYU pragma: export
#include "rouse/future/race.hpp"               // IWYU pragma: export
#include "rouse/future/ready.hpp"              // IWYU pragma: export
#include "rouse/future/select.hpp"             // IWYU pragma: export
#include "rouse/future/try_join.hpp"           // IWYU pragma: export
#include "rouse/future/unconstrained.hpp"      // IWYU pragma: export
#include "rouse/future/yield_now.hpp"          // IWYU pragma: export

// Bytes.
#include "rouse/io/async_buf_read.hpp"      // IWYU pragma: export
#include "rouse/io/async_fd.hpp"            // IWYU pragma: export
#include "rouse/io/async_read.hpp"          // IWYU pragma: export
#include "rouse/io/async_write.hpp"         // IWYU pragma: export
#include "rouse/io/buf_reader.hpp"          // IWYU pragma: export
#include "rouse/io/buf_writer.hpp"          // IWYU pragma: export
#include "rouse/io/buffer.hpp"              // IWYU pragma: export
#include "rouse/io/bytes_reader.hpp"        // IWYU pragma: export
#include "rouse/io/copy.hpp"                // IWYU pragma: export
#include "rouse/io/copy_bidirectional.hpp"  // IWYU pragma: export
#include "rouse/io/duplex.hpp"              // IWYU pragma: export
#include "rouse/io/error.hpp"               // IWYU pragma: export
#include "rouse/io/framed.hpp"              // IWYU pragma: export
#include "rouse/io/lines.hpp"               // IWYU pragma: export
#include "rouse/io/owned_fd.hpp"            // IWYU pragma: export
#include "rouse/io/read.hpp"                // IWYU pragma: export
#include "rouse/io/read_until.hpp"          // IWYU pragma: export
#include "rouse/io/ready.hpp"               // IWYU pragma: export
#include "rouse/io/simplex.hpp"             // IWYU pragma: export
#include "rouse/io/sources.hpp"             // IWYU pragma: export
#include "rouse/io/split.hpp"               // IWYU pragma: export
#include "rouse/io/take.hpp"                // IWYU pragma: export
#include "rouse/io/write.hpp"               // IWYU pragma: export

// Files.
#include "rouse/fs/file.hpp"            // IWYU pragma: export
#include "rouse/fs/metadata.hpp"        // IWYU pragma: export
#include "rouse/fs/operations.hpp"      // IWYU pragma: export
#include "rouse/fs/read_dir.hpp"        // IWYU pragma: export
#include "rouse/io/async_buf_read.hpp"  // IWYU pragma: export
#include "rouse/io/async_fd.hpp"        // IWYU pragma: export
#include "rouse/io/async_read.hpp"      // IWYU pragma: export
#include "rouse/io/async_write.hpp"     // IWYU pragma: export
#include "rouse/io/buffer.hpp"          // IWYU pragma: export
#include "rouse/io/error.hpp"           // IWYU pragma: export
#include "rouse/io/owned_fd.hpp"        // IWYU pragma: export
#include "rouse/io/read.hpp"            // IWYU pragma: export
#include "rouse/io/ready.hpp"           // IWYU pragma: export
#include "rouse/io/stdio.hpp"           // IWYU pragma: export
#include "rouse/io/write.hpp"           // IWYU pragma: export

// Network.
#include "rouse/net/accept.hpp"           // IWYU pragma: export
#include "rouse/net/datagram_batch.hpp"   // IWYU pragma: export
#include "rouse/net/datagram_socket.hpp"  // IWYU pragma: export
#include "rouse/net/endpoint.hpp"         // IWYU pragma: export
#include "rouse/net/error.hpp"            // IWYU pragma: export
#include "rouse/net/ip_addr.hpp"          // IWYU pragma: export
#include "rouse/net/lookup_host.hpp"      // IWYU pragma: export
#include "rouse/net/socket_addr.hpp"      // IWYU pragma: export
#include "rouse/net/stream_socket.hpp"    // IWYU pragma: export
#include "rouse/net/tcp_listener.hpp"     // IWYU pragma: export
#include "rouse/net/tcp_socket.hpp"       // IWYU pragma: export
#include "rouse/net/tcp_stream.hpp"       // IWYU pragma: export
#include "rouse/net/udp_socket.hpp"       // IWYU pragma: export
#include "rouse/net/unix_datagram.hpp"    // IWYU pragma: export
#include "rouse/net/unix_listener.hpp"    // IWYU pragma: export
#include "rouse/net/unix_stream.hpp"      // IWYU pragma: export

// Signals and processes.
#include "rouse/process/child.hpp"        // IWYU pragma: export
#include "rouse/process/child_stdio.hpp"  // IWYU pragma: export
#include "rouse/process/command.hpp"      // IWYU pragma: export
#include "rouse/process/exit_status.hpp"  // IWYU pragma: export
#include "rouse/process/output.hpp"       // IWYU pragma: export
#include "rouse/signal/kind.hpp"          // IWYU pragma: export
#include "rouse/signal/signal.hpp"        // IWYU pragma: export

// Time.
#include "rouse/time/delay_queue.hpp"  // IWYU pragma: export
#include "rouse/time/instant.hpp"      // IWYU pragma: export
#include "rouse/time/interval.hpp"     // IWYU pragma: export
#include "rouse/time/pause.hpp"        // IWYU pragma: export
#include "rouse/time/sleep.hpp"        // IWYU pragma: export
#include "rouse/time/timeout.hpp"      // IWYU pragma: export

// Streams.
#include "rouse/stream/any_stream.hpp"           // IWYU pragma: export
#include "rouse/stream/buffer_unordered.hpp"     // IWYU pragma: export
#include "rouse/stream/buffered.hpp"             // IWYU pragma: export
#include "rouse/stream/by_ref.hpp"               // IWYU pragma: export
#include "rouse/stream/chain.hpp"                // IWYU pragma: export
#include "rouse/stream/chunks.hpp"               // IWYU pragma: export
#include "rouse/stream/chunks_timeout.hpp"       // IWYU pragma: export
#include "rouse/stream/collect.hpp"              // IWYU pragma: export
#include "rouse/stream/filter.hpp"               // IWYU pragma: export
#include "rouse/stream/filter_map.hpp"           // IWYU pragma: export
#include "rouse/stream/fold.hpp"                 // IWYU pragma: export
#include "rouse/stream/for_each.hpp"             // IWYU pragma: export
#include "rouse/stream/for_each_concurrent.hpp"  // IWYU pragma: export
#include "rouse/stream/iter.hpp"                 // IWYU pragma: export
#include "rouse/stream/map.hpp"                  // IWYU pragma: export
#include "rouse/stream/merge.hpp"                // IWYU pragma: export
#include "rouse/stream/next.hpp"                 // IWYU pragma: export
#include "rouse/stream/once.hpp"                 // IWYU pragma: export
#include "rouse/stream/poll_fn.hpp"              // IWYU pragma: export
#include "rouse/stream/skip.hpp"                 // IWYU pragma: export
#include "rouse/stream/skip_while.hpp"           // IWYU pragma: export
#include "rouse/stream/stream_map.hpp"           // IWYU pragma: export
#include "rouse/stream/take.hpp"                 // IWYU pragma: export
#include "rouse/stream/take_while.hpp"           // IWYU pragma: export
#include "rouse/stream/then.hpp"                 // IWYU pragma: export
#include "rouse/stream/throttle.hpp"             // IWYU pragma: export
#include "rouse/stream/zip.hpp"                  // IWYU pragma: export

// Running tasks.
#include "rouse/embedded/static_executor.hpp"  // IWYU pragma: export
#include "rouse/exec/block_in_place.hpp"       // IWYU pragma: export
#include "rouse/exec/block_on.hpp"             // IWYU pragma: export
#include "rouse/exec/blocking_pool.hpp"        // IWYU pragma: export
#include "rouse/exec/enter.hpp"                // IWYU pragma: export
#include "rouse/exec/join_handle.hpp"          // IWYU pragma: export
#include "rouse/exec/local_executor.hpp"       // IWYU pragma: export
#include "rouse/exec/local_set.hpp"            // IWYU pragma: export
#include "rouse/exec/parallel.hpp"             // IWYU pragma: export
#include "rouse/exec/parallel_all.hpp"         // IWYU pragma: export
#include "rouse/exec/parallel_for.hpp"         // IWYU pragma: export
#include "rouse/exec/scope.hpp"                // IWYU pragma: export
#include "rouse/exec/spawn_local.hpp"          // IWYU pragma: export
#include "rouse/exec/spawner.hpp"              // IWYU pragma: export
#include "rouse/exec/task_builder.hpp"         // IWYU pragma: export
#include "rouse/exec/task_local.hpp"           // IWYU pragma: export
#include "rouse/exec/this_task.hpp"            // IWYU pragma: export
#include "rouse/exec/thread_pool.hpp"          // IWYU pragma: export
#include "rouse/runtime/join_set.hpp"          // IWYU pragma: export
#include "rouse/runtime/run.hpp"               // IWYU pragma: export
#include "rouse/runtime/runtime.hpp"           // IWYU pragma: export

// Tasks that wait for each other.
#include "rouse/sync/barrier.hpp"             // IWYU pragma: export
#include "rouse/sync/broadcast.hpp"           // IWYU pragma: export
#include "rouse/sync/cancellation_token.hpp"  // IWYU pragma: export
#include "rouse/sync/channel.hpp"             // IWYU pragma: export
#include "rouse/sync/mutex.hpp"               // IWYU pragma: export
#include "rouse/sync/notify.hpp"              // IWYU pragma: export
#include "rouse/sync/once_cell.hpp"           // IWYU pragma: export
#include "rouse/sync/oneshot.hpp"             // IWYU pragma: export
#include "rouse/sync/rw_lock.hpp"             // IWYU pragma: export
#include "rouse/sync/semaphore.hpp"           // IWYU pragma: export
#include "rouse/sync/task_tracker.hpp"        // IWYU pragma: export
#include "rouse/sync/watch.hpp"               // IWYU pragma: export

// System threads.
#include "rouse/thread/thread.hpp"  // IWYU pragma: export
