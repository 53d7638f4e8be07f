// read_u32, write_u32 and their family: numbers in binary, one at a time.
//
//   const std::uint16_t kind = co_await io::read_u16(reader);        // big endian
//   co_await io::write_f64_le(writer, 0.5);                          // little endian
//
// u, i, f: unsigned, signed, IEEE 754; then the number of bits. The plain name is big endian, the
// network byte order. Each is a read or a write of its own: use a BufReader or a BufWriter.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/error.hpp"

namespace rouse::internal {

template <class T>
using NumberBytes = std::array<std::byte, sizeof(T)>;

/// From or to the machine's byte order.
template <std::endian order, class T>
constexpr NumberBytes<T> reordered(NumberBytes<T> bytes) noexcept {
  static_assert(std::endian::native == std::endian::little ||
                std::endian::native == std::endian::big);
  if constexpr (order == std::endian::native) {
    return bytes;
  } else {
    NumberBytes<T> turned = {};
    for (std::size_t i = 0; i < sizeof(T); ++i) turned[sizeof(T) - 1 - i] = bytes[i];
    return turned;
  }
}

}  // namespace rouse::internal

namespace rouse::io {

/// Completes with the number.
/// Cancel safety: not safe; the bytes that were read are lost. Of one byte: nothing is lost.
/// Errors: Error::unexpected_eof at end of file, also in the middle of the number; the reader's.
template <class R, class T, std::endian order>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadNumber
    : public ResultFuture<ReadNumber<R, T, order>, T> {
 public:
  explicit ReadNumber(R& reader) noexcept : reader_(&reader) {}

  Poll<Result<T>> poll_result(Context& cx) {
    while (filled_ < bytes_.size()) {
      const std::span<std::byte> rest = std::span<std::byte>(bytes_).subspan(filled_);
      const Poll<Result<std::size_t>> polled = reader_->poll_read(cx, rest);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<T>>::ready(n.error());
      if (*n == 0) return Poll<Result<T>>::ready(Error::unexpected_eof);
      ROUSE_ASSERT(*n <= rest.size(), "poll_read says it read more than the buffer holds");
      filled_ += *n;
    }
    return Poll<Result<T>>::ready(std::bit_cast<T>(internal::reordered<order, T>(bytes_)));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReadNumber, "read_number", one, &ReadNumber::reader_)

 private:
  R* reader_;
  internal::NumberBytes<T> bytes_ = {};
  std::size_t filled_ = 0;
};

/// Completes when all bytes of the number are written.
/// Cancel safety: not safe; a part may have been written. Of one byte: it was not written.
/// Errors: Error::write_zero if the writer accepts no more; the writer's.
template <class W, class T, std::endian order>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] WriteNumber
    : public ResultFuture<WriteNumber<W, T, order>, void> {
 public:
  WriteNumber(W& writer, T number) noexcept
      : writer_(&writer),
        bytes_(internal::reordered<order, T>(std::bit_cast<internal::NumberBytes<T>>(number))) {}

  Poll<Result<void>> poll_result(Context& cx) {
    while (written_ < bytes_.size()) {
      const std::span<const std::byte> rest = std::span<const std::byte>(bytes_).subspan(written_);
      const Poll<Result<std::size_t>> polled = writer_->poll_write(cx, rest);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(Error::write_zero);
      ROUSE_ASSERT(*n <= rest.size(), "poll_write says it took more than there was");
      written_ += *n;
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(WriteNumber, "write_number", one, &WriteNumber::writer_)

 private:
  W* writer_;
  internal::NumberBytes<T> bytes_;
  std::size_t written_ = 0;
};

}  // namespace rouse::io

namespace rouse::internal {

/// What read_u32 and the others are: a function of a reader.
template <class T, std::endian order>
struct ReadNumberFn {
  template <AsyncRead R>
  io::ReadNumber<R, T, order> operator()(R& reader ROUSE_LIFETIMEBOUND) const noexcept {
    return io::ReadNumber<R, T, order>(reader);
  }
};

/// What write_u32 and the others are: a function of a writer and a number.
template <class T, std::endian order>
struct WriteNumberFn {
  template <AsyncWrite W>
  io::WriteNumber<W, T, order> operator()(W& writer ROUSE_LIFETIMEBOUND, T number) const noexcept {
    return io::WriteNumber<W, T, order>(writer, number);
  }
};

}  // namespace rouse::internal

namespace rouse::io {

static_assert(sizeof(float) == 4 && sizeof(double) == 8);

// See ReadNumber.
inline constexpr internal::ReadNumberFn<std::uint8_t, std::endian::big> read_u8;
inline constexpr internal::ReadNumberFn<std::int8_t, std::endian::big> read_i8;
inline constexpr internal::ReadNumberFn<std::uint16_t, std::endian::big> read_u16;
inline constexpr internal::ReadNumberFn<std::int16_t, std::endian::big> read_i16;
inline constexpr internal::ReadNumberFn<std::uint32_t, std::endian::big> read_u32;
inline constexpr internal::ReadNumberFn<std::int32_t, std::endian::big> read_i32;
inline constexpr internal::ReadNumberFn<std::uint64_t, std::endian::big> read_u64;
inline constexpr internal::ReadNumberFn<std::int64_t, std::endian::big> read_i64;
inline constexpr internal::ReadNumberFn<float, std::endian::big> read_f32;
inline constexpr internal::ReadNumberFn<double, std::endian::big> read_f64;
inline constexpr internal::ReadNumberFn<std::uint16_t, std::endian::little> read_u16_le;
inline constexpr internal::ReadNumberFn<std::int16_t, std::endian::little> read_i16_le;
inline constexpr internal::ReadNumberFn<std::uint32_t, std::endian::little> read_u32_le;
inline constexpr internal::ReadNumberFn<std::int32_t, std::endian::little> read_i32_le;
inline constexpr internal::ReadNumberFn<std::uint64_t, std::endian::little> read_u64_le;
inline constexpr internal::ReadNumberFn<std::int64_t, std::endian::little> read_i64_le;
inline constexpr internal::ReadNumberFn<float, std::endian::little> read_f32_le;
inline constexpr internal::ReadNumberFn<double, std::endian::little> read_f64_le;

// See WriteNumber.
inline constexpr internal::WriteNumberFn<std::uint8_t, std::endian::big> write_u8;
inline constexpr internal::WriteNumberFn<std::int8_t, std::endian::big> write_i8;
inline constexpr internal::WriteNumberFn<std::uint16_t, std::endian::big> write_u16;
inline constexpr internal::WriteNumberFn<std::int16_t, std::endian::big> write_i16;
inline constexpr internal::WriteNumberFn<std::uint32_t, std::endian::big> write_u32;
inline constexpr internal::WriteNumberFn<std::int32_t, std::endian::big> write_i32;
inline constexpr internal::WriteNumberFn<std::uint64_t, std::endian::big> write_u64;
inline constexpr internal::WriteNumberFn<std::int64_t, std::endian::big> write_i64;
inline constexpr internal::WriteNumberFn<float, std::endian::big> write_f32;
inline constexpr internal::WriteNumberFn<double, std::endian::big> write_f64;
inline constexpr internal::WriteNumberFn<std::uint16_t, std::endian::little> write_u16_le;
inline constexpr internal::WriteNumberFn<std::int16_t, std::endian::little> write_i16_le;
inline constexpr internal::WriteNumberFn<std::uint32_t, std::endian::little> write_u32_le;
inline constexpr internal::WriteNumberFn<std::int32_t, std::endian::little> write_i32_le;
inline constexpr internal::WriteNumberFn<std::uint64_t, std::endian::little> write_u64_le;
inline constexpr internal::WriteNumberFn<std::int64_t, std::endian::little> write_i64_le;
inline constexpr internal::WriteNumberFn<float, std::endian::little> write_f32_le;
inline constexpr internal::WriteNumberFn<double, std::endian::little> write_f64_le;

}  // namespace rouse::io
