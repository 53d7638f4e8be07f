#include "rouse/core/internal/checked_promise.hpp"

#include <array>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <new>
#include <set>
#include <source_location>
#include <string>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/thread.hpp"

namespace rouse::internal {
namespace {

/// Who borrows what, of the whole process.
class Borrows {
 public:
  void insert(const void* address, const Frame& borrower) {
    const Lock lock(mutex_);
    borrows_.emplace(address, &borrower);
  }
  void erase(const void* address, const Frame& borrower) noexcept {
    const Lock lock(mutex_);
    borrows_.erase({address, &borrower});
  }
  void erase(const char* begin, const char* end) noexcept {
    const Lock lock(mutex_);
    const auto first = borrows_.lower_bound({begin, nullptr});
    auto last = first;
    while (last != borrows_.end() && std::less<>()(last->first, end)) ++last;
    borrows_.erase(first, last);
  }
  /// Who borrows something in there and has not ended; null if nobody does.
  const Frame* find(const char* begin, const char* end) noexcept {
    const Lock lock(mutex_);
    for (auto it = borrows_.lower_bound({begin, nullptr});
         it != borrows_.end() && std::less<>()(it->first, end); ++it) {
      if (!it->second->is_done()) return it->second;
    }
    return nullptr;
  }

 private:
  Mutex mutex_;
  std::set<std::pair<const void*, const Frame*>> borrows_;
};

/// Never destroyed: coroutines end after static objects, too.
Borrows& borrows() {
  static Borrows& all = *new Borrows;  // NOLINT(cppcoreguidelines-owning-memory)
  return all;
}

/// Frames that are being destroyed, for the message. A parameter may own another coroutine, so
/// there may be several; of the outermost of very many nothing is known.
struct Ending {
  const void* block = nullptr;
  std::source_location where;
};
constinit thread_local std::array<Ending, 16> ending;
constinit thread_local std::size_t endings = 0;

std::string line_of(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line()) + " (" +
         where.function_name() + ")";
}

}  // namespace

// Must not throw: clang destroys a coroutine twice whose promise does. Without memory this one is
// not checked.
void note_borrow(const void* address, const Frame& borrower) {
  try {
    borrows().insert(address, borrower);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void forget_borrow(const void* address, const Frame& borrower) noexcept {
  borrows().erase(address, borrower);
}

void forget_borrows_of(const void* block, std::size_t size) noexcept {
  const char* const begin = static_cast<const char*>(block);
  borrows().erase(begin, begin + size);
}

void frame_ends(const Frame& frame) noexcept {
  const void* block =
      std::coroutine_handle<const Frame>::from_promise(const_cast<Frame&>(frame)).address();
  ending[endings++ % ending.size()] = {block, frame.where()};
}

void refuse_borrowers_of(const void* block, std::size_t size) noexcept {
  Ending ended;
  if (endings != 0 && ending[(endings - 1) % ending.size()].block == block) {
    ended = ending[--endings % ending.size()];
  }
  const char* const begin = static_cast<const char*>(block);
  const Frame* const borrower = borrows().find(begin, begin + size);
  if (borrower == nullptr) return;
  const std::string gone = "the variable is of " + line_of(ended.where) +
                           ", which has ended\n  the borrower is at " + line_of(borrower->where());
  assert_failed(__FILE__, __LINE__,
                "a coroutine borrows a variable (by a reference, pointer or view) of another one "
                "that has ended: give it a copy, or await it before the other ends",
                borrower->where().function_name(), gone.c_str());
}

}  // namespace rouse::internal
