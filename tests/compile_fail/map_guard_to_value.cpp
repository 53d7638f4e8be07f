// A lambda returns a copy unless it says that it returns a reference.
// EXPECT-ERROR: fn returns a reference to a part of the value
#include <string>

#include <rouse/all.hpp>

void use(rouse::sync::Mutex<std::string>& name) {
#ifndef FIXED
  (void)map(*name.try_lock(), [](std::string& text) { return text.front(); });
#else
  (void)map(*name.try_lock(), [](std::string& text) -> auto& { return text.front(); });
#endif
}
