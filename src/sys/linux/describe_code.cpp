#include "sys/describe_code.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace rouse::sys {

CodePlace place_of_code(std::uintptr_t address) noexcept {
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<const void*>(address), &info, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0) {
    return {};
  }
  // What is not relocated has its addresses in the file.
  return CodePlace{.module = info.dli_fname,
                   .offset = address - (map == nullptr ? 0 : map->l_addr),
                   .function = info.dli_sname};
}

}  // namespace rouse::sys
