// FunctionRef<R(Args...)>: borrows a function of the caller, to be called during the call.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace rouse::internal {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class Fn>
    requires(!std::same_as<std::remove_cvref_t<Fn>, FunctionRef> &&
             std::is_invocable_r_v<R, Fn&, Args...>)
  FunctionRef(Fn&& fn) noexcept
      : fn_(const_cast<void*>(static_cast<const void*>(&fn))),
        call_([](void* called, Args... args) {
          return static_cast<R>(
              (*static_cast<std::remove_reference_t<Fn>*>(called))(std::forward<Args>(args)...));
        }) {}

  R operator()(Args... args) const { return call_(fn_, std::forward<Args>(args)...); }

 private:
  void* fn_;
  R (*call_)(void*, Args...);
};

}  // namespace rouse::internal
