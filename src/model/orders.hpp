// Orders: for mutation tests. Which operations of a model have an order stronger than relaxed, and
// one of these orders left out. A model that still passes then does not need it: either the model
// is too weak, or the order too strong.
//
// An order is named by where it stands and what it is: "FILE:LINE:COLUMN:PART", where PART is
// `acquire`, `release` or `seq_cst`, or one of these after `failure-` (of a compare_exchange). An
// acq_rel is two of them; a seq_cst that is left out becomes what acquire and release are there.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rouse/model/internal/hooks.hpp"

namespace rouse::model {

class Orders {
 public:
  /// What an order is the order of.
  enum class Of : std::uint8_t { load, store, update, failure };

  /// False: that is not the name of an order. FILE may be the end of a path.
  bool leave_out(std::string_view name);
  void collect() noexcept { collects_ = true; }
  /// The names of those that were met, each once.
  [[nodiscard]] std::vector<std::string> collected() const;

  /// The order that an operation has in this run.
  std::memory_order operator()(Of of, std::memory_order order, const Where& where) {
    if (order == std::memory_order_relaxed) return order;
    if (collects_) collected_.emplace(where.file_name(), where.line(), where.column(), of, order);
    if (line_ == where.line() && column_ == where.column()) [[unlikely]]
      return without_part(of, order, where);
    return order;
  }

 private:
  std::memory_order without_part(Of of, std::memory_order order, const Where& where) const noexcept;

  using Met = std::tuple<std::string_view, std::uint32_t, std::uint32_t, Of, std::memory_order>;
  bool collects_ = false;
  std::set<Met> collected_;
  // The one that is left out. There is no line 0.
  std::string file_;
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 0;
  bool is_failure_ = false;
  std::string part_;
};

}  // namespace rouse::model
