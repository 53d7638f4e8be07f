// llhttp, under the names that our own build of it has.
#pragma once

#if __has_include(<llhttp_own_names.h>)
#include <llhttp_own_names.h>
#endif
#include <llhttp.h>  // NOLINT(llvm-include-order): its names are changed first

static_assert(LLHTTP_VERSION_MAJOR > 9 || (LLHTTP_VERSION_MAJOR == 9 && LLHTTP_VERSION_MINOR >= 3),
              "llhttp older than 9.3 lets requests be smuggled");
