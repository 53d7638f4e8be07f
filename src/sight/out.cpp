#include "sight/out.hpp"

#include <cstring>
#include <utility>

#include "rouse/base/thread.hpp"
#include "rouse/io/ready.hpp"

#include "exec/park/deadline.hpp"
#include "sys/fd.hpp"

namespace rouse::sight {
namespace {

/// Whether a descriptor that is full takes something in that time: its reader may be slow.
bool takes_more(int fd, std::chrono::nanoseconds patience) noexcept {
  const rouse::internal::Deadline deadline(patience);
  Mutex mutex;
  CondVar nobody_notifies;
  Lock lock(mutex);
  while (!sys::is_ready_now(fd, io::Interest::writable)) {
    if (deadline.left() == std::chrono::nanoseconds(0)) return false;
    wait_for(nobody_notifies, lock, std::chrono::milliseconds(1));
  }
  return true;
}

/// The length of the UTF-8 character that `text` begins with; 0: it is none.
std::size_t character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length == 3 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f))) {
    return 0;
  }
  if (length == 4 && ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f))) {
    return 0;
  }
  return length;
}

/// Control characters; also those of two bytes, U+0080 to U+009F.
bool is_control(std::string_view one) noexcept {
  const auto first = static_cast<unsigned char>(one[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<unsigned char>(one[1]) < 0xa0);
}

constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

/// Without a free descriptor it uses the one that it is given, with a look before each write. That
/// blocks only if another thread writes there at the same moment.
Out::Out(int fd, std::chrono::nanoseconds patience, char* buffer, std::size_t size) noexcept
    : fd_(fd),
      sharing_(sys::Sharing::looked_at),
      patience_(patience),
      buffer_(buffer),
      size_(size) {
  Result<sys::SharedCopy> copy = sys::share(fd, io::Interest::writable);
  if (!copy) return;
  own_ = std::move(copy->fd);
  fd_ = own_.get();
  sharing_ = copy->how;
}

Out& Out::put(std::string_view text) {
  if (text_ != nullptr) {
    text_->append(text);
    return *this;
  }
  while (!text.empty()) {
    if (used_ == size_ && fd_ < 0) {
      is_cut_ = true;
      return *this;
    }
    if (used_ == size_) (void)flush();
    const std::size_t part = text.size() < size_ - used_ ? text.size() : size_ - used_;
    std::memcpy(buffer_ + used_, text.data(), part);
    used_ += part;
    text.remove_prefix(part);
  }
  return *this;
}

Out& Out::put_in_base(std::uint64_t number, unsigned base) {
  char place[20];
  std::size_t at = sizeof place;
  do {
    place[--at] = digits[number % base];
    number /= base;
  } while (number != 0);
  return put(std::string_view(place + at, sizeof place - at));
}
Out& Out::put(std::uint64_t number) { return put_in_base(number, 10); }
Out& Out::put_hex(std::uint64_t number) { return put("0x").put_in_base(number, 16); }

Out& Out::put_text(const char* text) {
  for (std::string_view left(text); !left.empty();) {
    const std::size_t length = character(left);
    if (length != 0 && !is_control(left)) {
      put(left.substr(0, length));
      left.remove_prefix(length);
      continue;
    }
    for (std::size_t i = 0; i < (length == 0 ? 1 : length); ++i) {
      const auto byte = static_cast<unsigned char>(left[i]);
      put("\\x").put(digits[byte / 16]).put(digits[byte % 16]);
    }
    left.remove_prefix(length == 0 ? 1 : length);
  }
  return *this;
}

Out& Out::put_json(std::string_view left) {
  put('"');
  while (!left.empty()) {
    const std::size_t length = character(left);
    const auto first = static_cast<unsigned char>(left[0]);
    if (length == 0) {
      put("\\ufffd");
    } else if (is_control(left)) {
      const unsigned code = length == 1 ? first : static_cast<unsigned char>(left[1]);
      put("\\u00").put(digits[code / 16]).put(digits[code % 16]);
    } else {
      if (first == '"' || first == '\\') put('\\');
      put(left.substr(0, length));
    }
    left.remove_prefix(length == 0 ? 1 : length);
  }
  return put('"');
}

Out& Out::put_label(std::string_view left) {
  while (!left.empty()) {
    const std::size_t length = character(left);
    if (length == 0 || is_control(left)) {
      put("\xef\xbf\xbd");
    } else {
      if (left[0] == '"' || left[0] == '\\') put('\\');
      put(left.substr(0, length));
    }
    left.remove_prefix(length == 0 ? 1 : length);
  }
  return *this;
}

Result<std::size_t> Out::write(std::span<const char> bytes) const noexcept {
  if (sharing_) return sys::write_shared(*sharing_, fd_, std::as_bytes(bytes));
  return sys::write_without_signal(fd_, std::as_bytes(bytes));
}

Result<void> Out::flush() noexcept {
  std::span<const char> left(buffer_, std::exchange(used_, 0));
  while (!left.empty() && !error_) {
    const Result<std::size_t> written = write(left);
    if (written) {
      left = left.subspan(*written);
    } else if (!sys::would_block(written.error()) || !takes_more(fd_, patience_)) {
      error_ = written.error();
    }
  }
  if (error_) return error_;
  return {};
}

std::string_view opaque_type(const char* label) noexcept {
  std::string_view text(label == nullptr ? "" : label);
  constexpr std::string_view begin = "F = ";
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return text;
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find_last_of(']'));
}

}  // namespace rouse::sight
