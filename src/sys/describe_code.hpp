// The sys seam, where code is, for people and tools. See src/sys/README.md.
#pragma once

#include <cstdint>

namespace rouse::sys {

struct CodePlace {
  const char* module = nullptr;    ///< the file it was loaded from; null: nobody knows. Not copied
  std::uintptr_t offset = 0;       ///< in that module, as addr2line wants it
  const char* function = nullptr;  ///< if the module exports it; else null
};

CodePlace place_of_code(std::uintptr_t address) noexcept;

}  // namespace rouse::sys
