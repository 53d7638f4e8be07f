#include "model/orders.hpp"

#include <atomic>
#include <charconv>

namespace rouse::model {
namespace {

constexpr std::string_view failure_mark = "failure-";

std::vector<std::string_view> parts_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_acq_rel:
      return {"acquire", "release"};
    case std::memory_order_release:
      return {"release"};
    case std::memory_order_seq_cst:
      return {"seq_cst"};
    default:
      return {"acquire"};
  }
}

/// Cuts off what stands behind the last colon; empty if there is none.
std::string_view cut_last(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view last = text.substr(colon + 1);
  text = text.substr(0, colon);
  return last;
}

bool parse(std::string_view text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool Orders::leave_out(std::string_view name) {
  std::string_view part = cut_last(name);
  is_failure_ = part.starts_with(failure_mark);
  if (is_failure_) part.remove_prefix(failure_mark.size());
  part_ = part;
  if (part != "acquire" && part != "release" && part != "seq_cst") return false;
  const std::string_view column = cut_last(name);
  if (!parse(column, column_) || !parse(cut_last(name), line_)) return false;
  file_ = name;
  return true;
}

std::vector<std::string> Orders::collected() const {
  std::vector<std::string> names;
  for (const auto& [file, line, column, of, order] : collected_) {
    for (const std::string_view part : parts_of(order)) {
      std::string name(file);
      name += ':' + std::to_string(line) + ':' + std::to_string(column) + ':';
      if (of == Of::failure) name += failure_mark;
      names.push_back(name += part);
    }
  }
  return names;
}

std::memory_order Orders::without_part(Of of, std::memory_order order,
                                       const Where& where) const noexcept {
  if (!std::string_view(where.file_name()).ends_with(file_)) return order;
  if (is_failure_ != (of == Of::failure)) return order;
  if (order == std::memory_order_seq_cst) {
    if (part_ != "seq_cst") return order;
    if (of == Of::update) return std::memory_order_acq_rel;
    return of == Of::store ? std::memory_order_release : std::memory_order_acquire;
  }
  if (order == std::memory_order_acq_rel) {
    if (part_ == "acquire") return std::memory_order_release;
    return part_ == "release" ? std::memory_order_acquire : order;
  }
  return parts_of(order).front() == part_ ? std::memory_order_relaxed : order;
}

}  // namespace rouse::model
