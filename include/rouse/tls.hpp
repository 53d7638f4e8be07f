// TLS: encrypted connections over any stream. A contents page.
#pragma once

#include "rouse/tls/acceptor.hpp"         // IWYU pragma: export
#include "rouse/tls/client_config.hpp"    // IWYU pragma: export
#include "rouse/tls/connection_info.hpp"  // IWYU pragma: export
#include "rouse/tls/connector.hpp"        // IWYU pragma: export
#include "rouse/tls/error.hpp"            // IWYU pragma: export
#include "rouse/tls/server_config.hpp"    // IWYU pragma: export
#include "rouse/tls/stream.hpp"           // IWYU pragma: export
#include "rouse/tls/ticket_keys.hpp"      // IWYU pragma: export
#include "rouse/tls/version.hpp"          // IWYU pragma: export
