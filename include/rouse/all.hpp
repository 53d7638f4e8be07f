// All of rouse: <rouse/rouse.hpp>, and the headers that it leaves out, because few programs need
// them and everybody who includes it would pay for them. A file that needs one of them includes
// that one.
#pragma once

#include "rouse/base/inplace_vector.hpp"     // IWYU pragma: export
#include "rouse/core/sink.hpp"               // IWYU pragma: export
#include "rouse/exec/abort_handle.hpp"       // IWYU pragma: export
#include "rouse/exec/await_local_set.hpp"    // IWYU pragma: export
#include "rouse/fs/dir_builder.hpp"          // IWYU pragma: export
#include "rouse/fs/lock.hpp"                 // IWYU pragma: export
#include "rouse/fs/times.hpp"                // IWYU pragma: export
#include "rouse/fs/watch.hpp"                // IWYU pragma: export
#include "rouse/future/shared.hpp"           // IWYU pragma: export
#include "rouse/io/any_connection.hpp"       // IWYU pragma: export
#include "rouse/io/any_delimiter_codec.hpp"  // IWYU pragma: export
#include "rouse/io/async_seek.hpp"           // IWYU pragma: export
#include "rouse/io/buf_stream.hpp"           // IWYU pragma: export
#include "rouse/io/bytes_codec.hpp"          // IWYU pragma: export
#include "rouse/io/framed_duplex.hpp"        // IWYU pragma: export
#include "rouse/io/numbers.hpp"              // IWYU pragma: export
#include "rouse/io/read_buf.hpp"             // IWYU pragma: export
#include "rouse/io/reader_stream.hpp"        // IWYU pragma: export
#include "rouse/io/seek.hpp"                 // IWYU pragma: export
#include "rouse/io/stream_reader.hpp"        // IWYU pragma: export
#include "rouse/net/pipe.hpp"                // IWYU pragma: export
#include "rouse/net/serve.hpp"               // IWYU pragma: export
#include "rouse/net/sock_ref.hpp"            // IWYU pragma: export
#include "rouse/net/udp_message.hpp"         // IWYU pragma: export
#include "rouse/rouse.hpp"                   // IWYU pragma: export
#include "rouse/runtime/deadline.hpp"        // IWYU pragma: export
#include "rouse/runtime/pool.hpp"            // IWYU pragma: export
#include "rouse/runtime/pool_options.hpp"    // IWYU pragma: export
#include "rouse/runtime/rate_limiter.hpp"    // IWYU pragma: export
#include "rouse/runtime/send_timeout.hpp"    // IWYU pragma: export
#include "rouse/runtime/sync_bridge.hpp"     // IWYU pragma: export
#include "rouse/runtime/sync_streambuf.hpp"  // IWYU pragma: export
#include "rouse/runtime/tracked_spawn.hpp"   // IWYU pragma: export
#include "rouse/sight.hpp"                   // IWYU pragma: export
#include "rouse/stream/any_stream.hpp"       // IWYU pragma: export
#include "rouse/stream/forward.hpp"          // IWYU pragma: export
#include "rouse/stream/send.hpp"             // IWYU pragma: export
#include "rouse/sync/mapped_guard.hpp"       // IWYU pragma: export
#include "rouse/sync/owned.hpp"              // IWYU pragma: export
#include "rouse/sync/poll_sender.hpp"        // IWYU pragma: export
#include "rouse/sync/set_once.hpp"           // IWYU pragma: export
#include "rouse/time/retry.hpp"              // IWYU pragma: export
