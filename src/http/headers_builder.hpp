// HeadersBuilder: fills Headers with the pieces that a parser finds, which have been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rouse/http/headers.hpp"

#include "http/text.hpp"

namespace rouse::http {

class HeadersBuilder {
 public:
  explicit HeadersBuilder(Headers& headers) noexcept : headers_(&headers) {}

  /// A piece of a name; the first one begins a field.
  void name(std::string_view piece) {
    if (in_value_ || headers_->places_.empty()) {
      Headers::Place place;
      place.name = static_cast<std::uint32_t>(headers_->text_.size());
      headers_->places_.push_back(place);
      in_value_ = false;
    }
    headers_->text_ += piece;
    headers_->places_.back().name_size += static_cast<std::uint32_t>(piece.size());
  }
  /// A piece of its value, perhaps empty.
  void value(std::string_view piece) {
    in_value_ = true;
    headers_->text_ += piece;
    headers_->places_.back().value_size += static_cast<std::uint32_t>(piece.size());
  }
  /// Whole, behind the others.
  void add(std::string_view field, std::string_view content) {
    in_value_ = true;
    name(field);
    value(content);
  }
  /// The value has ended: drops the spaces and tabs behind it.
  void end_value() noexcept {
    in_value_ = true;
    Headers::Place& place = headers_->places_.back();
    place.value_size = static_cast<std::uint32_t>(trim_end(headers_->field(place).value));
  }

 private:
  static std::size_t trim_end(std::string_view value) noexcept {
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    return value.size();
  }

  Headers* headers_;
  bool in_value_ = true;  // the next name begins a field
};

}  // namespace rouse::http
