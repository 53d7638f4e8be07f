// HTTP/1.1: messages, a server, a client; WebSocket. A component, rouse::http. A contents page.
#pragma once

#include "rouse/http/body.hpp"              // IWYU pragma: export
#include "rouse/http/client.hpp"            // IWYU pragma: export
#include "rouse/http/client_error.hpp"      // IWYU pragma: export
#include "rouse/http/error.hpp"             // IWYU pragma: export
#include "rouse/http/handler.hpp"           // IWYU pragma: export
#include "rouse/http/headers.hpp"           // IWYU pragma: export
#include "rouse/http/method.hpp"            // IWYU pragma: export
#include "rouse/http/reply.hpp"             // IWYU pragma: export
#include "rouse/http/request.hpp"           // IWYU pragma: export
#include "rouse/http/response.hpp"          // IWYU pragma: export
#include "rouse/http/router.hpp"            // IWYU pragma: export
#include "rouse/http/serve_connection.hpp"  // IWYU pragma: export
#include "rouse/http/server.hpp"            // IWYU pragma: export
#include "rouse/http/server_options.hpp"    // IWYU pragma: export
#include "rouse/http/sight_pages.hpp"       // IWYU pragma: export
#include "rouse/http/static_files.hpp"      // IWYU pragma: export
#include "rouse/http/status.hpp"            // IWYU pragma: export
#include "rouse/http/upgrade.hpp"           // IWYU pragma: export
#include "rouse/http/ws_connect.hpp"        // IWYU pragma: export
#include "rouse/http/ws_error.hpp"          // IWYU pragma: export
#include "rouse/http/ws_message.hpp"        // IWYU pragma: export
#include "rouse/http/ws_options.hpp"        // IWYU pragma: export
#include "rouse/http/ws_socket.hpp"         // IWYU pragma: export
#include "rouse/http/ws_upgrade.hpp"        // IWYU pragma: export
