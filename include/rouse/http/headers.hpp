// http::Headers: the header fields of a message, in their order. Names are compared without regard
// to case and kept as they were written.
//
//   headers.set("Cache-Control", "no-store");
//   if (auto type = headers.get("content-type")) ...
//   for (const auto& [name, value] : headers) ...
//
// What is set is checked there: a value with a CR, an LF or a NUL would become another field, or
// another answer, in the hands of the peer. All text is in one string, so a message with many
// fields costs two allocations, and one that is filled again none.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::http {

class HeadersBuilder;

class ROUSE_API Headers {
  struct Place {
    std::uint32_t name = 0;  // where it begins in the text; the value comes behind it
    std::uint32_t name_size = 0;
    std::uint32_t value_size = 0;
  };

 public:
  /// A name and its value. Valid until the Headers change.
  struct Field {
    std::string_view name;
    std::string_view value;
  };
  class Iterator;

  /// None.
  Headers() noexcept = default;

  /// Replaces all fields of this name by one. Spaces and tabs around the value are dropped.
  /// Throws std::system_error with Error::bad_header_name or bad_header_value.
  void set(std::string_view name, std::string_view value);
  /// Adds a field behind the others, whether or not there are some of this name. Checks as `set`.
  void add(std::string_view name, std::string_view value);
  /// Removes all fields of this name. False: there was none.
  bool remove(std::string_view name) noexcept;
  /// Removes all; keeps the memory.
  void clear() noexcept;

  /// The value of the first field of this name. Valid until the Headers change.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept
      ROUSE_LIFETIMEBOUND;
  /// Whether there is a field of this name.
  [[nodiscard]] bool contains(std::string_view name) const noexcept;
  /// How many fields there are of this name.
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
  /// Whether a field of this name, a list with commas, has this member: `has_token("Connection",
  /// "close")`. Case does not matter.
  [[nodiscard]] bool has_token(std::string_view name, std::string_view token) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  [[nodiscard]] Iterator begin() const noexcept ROUSE_LIFETIMEBOUND;
  [[nodiscard]] Iterator end() const noexcept ROUSE_LIFETIMEBOUND;

 private:
  friend class HeadersBuilder;

  [[nodiscard]] Field field(const Place& place) const noexcept {
    const std::string_view text = text_;
    return Field{text.substr(place.name, place.name_size),
                 text.substr(place.name + place.name_size, place.value_size)};
  }
  [[nodiscard]] const Place* find(std::string_view name) const noexcept;

  std::string text_;  // also of fields that were removed
  std::vector<Place> places_;
};

/// Of the fields, in their order. Invalid once the Headers change.
class Headers::Iterator {
 public:
  using value_type = Field;
  using difference_type = std::ptrdiff_t;

  Iterator() noexcept = default;
  Iterator(const Headers& of, std::size_t at) noexcept : of_(&of), at_(at) {}
  Field operator*() const noexcept { return of_->field(of_->places_[at_]); }
  Iterator& operator++() noexcept {
    ++at_;
    return *this;
  }
  Iterator operator++(int) noexcept {
    Iterator before = *this;
    ++at_;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

 private:
  const Headers* of_ = nullptr;
  std::size_t at_ = 0;
};

inline Headers::Iterator Headers::begin() const noexcept { return Iterator(*this, 0); }
inline Headers::Iterator Headers::end() const noexcept { return Iterator(*this, places_.size()); }

}  // namespace rouse::http
