// For what may fail while sight starts.
#pragma once

#include <system_error>
#include <utility>

#include "rouse/base/result.hpp"

namespace rouse::sight {

template <class T>
T value_or_throw(Result<T> result, const char* what) {
  if (!result) throw std::system_error(result.error(), what);
  return *std::move(result);
}

}  // namespace rouse::sight
