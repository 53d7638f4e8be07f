// The value of ROUSE_SIGHT as Options: see from_environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rouse/sight/options.hpp"

namespace rouse::sight {

struct ParsedOptions {
  std::optional<Options> options;
  std::string wrong;  // without options: the part that is not understood
};

ParsedOptions parse_options(std::string_view text);

inline constexpr std::string_view allowed_options =
    "1, socket, socket=PATH, tcp, tcp=PORT, watch, record, record=4MiB, slow_poll, slow_poll=10ms, "
    "stuck, stuck=1s, dump=SIGNAL (QUIT, USR1, ...)";

}  // namespace rouse::sight
