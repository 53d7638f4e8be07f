#include <exception>
#include <string>

#include "rouse/sight/start.hpp"

#include "sight/out.hpp"
#include "sight/parse_options.hpp"
#include "sys/console.hpp"
#include "sys/self.hpp"

namespace rouse::sight {
namespace {

/// One line; nothing in it may do harm to a terminal, wherever it came from.
void tell(const std::string& what) {
  std::string line;
  Out(line).put("rouse: ").put_text(what.c_str()).put('\n');
  sys::write_stderr(line);
}

}  // namespace

Sight from_environment() {
  const char* const value = sys::trusted_variable("ROUSE_SIGHT");
  if (value == nullptr || value[0] == '\0') return Sight();
  const ParsedOptions parsed = parse_options(value);
  if (!parsed.options) {
    tell("ROUSE_SIGHT: " + parsed.wrong +
         " is not understood. It is a list of: " + std::string(allowed_options));
    return Sight();
  }
  try {
    Sight sight = start(*parsed.options);
    if (!sight.socket_path().empty()) tell("sight answers at " + sight.socket_path());
    if (!sight.url().empty()) tell("sight shows its page at " + sight.url());
    return sight;
  } catch (const std::exception& error) {
    tell("ROUSE_SIGHT: " + std::string(error.what()));
    return Sight();
  }
}

}  // namespace rouse::sight
