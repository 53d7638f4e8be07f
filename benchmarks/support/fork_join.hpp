// The four fork/join problems: what of them is not forking and joining, and their right answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/measure.hpp"

namespace bench {

constexpr long value_of_fib(long n) {
  long value = 0;
  long next = 1;
  for (; n > 0; --n) {
    const long sum = value + next;
    value = next;
    next = sum;
  }
  return value;
}
constexpr long calls_of_fib(long n) { return 2 * value_of_fib(n + 1) - 1; }

inline constexpr long skynet_degree = 10;
constexpr long tasks_of_skynet(long leaves) {
  return leaves == 1 ? 1 : 1 + skynet_degree * tasks_of_skynet(leaves / skynet_degree);
}
constexpr long value_of_skynet(long leaves) { return leaves * (leaves - 1) / 2; }

/// The column of the queen in each row so far.
using Board = std::array<std::uint8_t, 16>;
inline bool is_attacked(const Board& board, long row, long column) {
  for (long other = 0; other < row; ++other) {
    const long apart = column - board[static_cast<std::size_t>(other)];
    if (apart == 0 || apart == row - other || apart == other - row) return true;
  }
  return false;
}
inline Board with_queen(Board board, long row, long column) {
  board[static_cast<std::size_t>(row)] = static_cast<std::uint8_t>(column);
  return board;
}
inline long value_of_queens(long n) {
  constexpr std::array<long, 15> known = {1,  1,   0,   0,    2,     10,    4,     40,
                                          92, 352, 724, 2680, 14200, 73712, 365596};
  return known.at(static_cast<std::size_t>(n));
}

/// A square part of a matrix of int32 numbers.
class Square {
 public:
  Square(std::int32_t* first, std::size_t size, std::size_t stride)
      : first_(first), size_(size), stride_(stride) {}

  std::size_t size() const { return size_; }
  std::int32_t* row(std::size_t i) const { return first_ + i * stride_; }
  Square quarter(std::size_t i, std::size_t j) const {
    const std::size_t half = size_ / 2;
    return {row(i * half) + j * half, half, stride_};
  }

 private:
  std::int32_t* first_;
  std::size_t size_;
  std::size_t stride_;
};

/// Squares up to this size are multiplied at once.
inline constexpr std::size_t small_square = 32;
/// Not part of a coroutine's body: its loops would keep their variables in the frame.
[[gnu::noinline]] inline void multiply_small(Square c, Square a, Square b) {
  for (std::size_t i = 0; i < c.size(); ++i) {
    std::int32_t* const to = c.row(i);
    for (std::size_t k = 0; k < c.size(); ++k) {
      const std::int32_t factor = a.row(i)[k];
      const std::int32_t* const from = b.row(k);
      for (std::size_t j = 0; j < c.size(); ++j) to[j] += factor * from[j];
    }
  }
}

/// Matrices to multiply. The numbers are so small that thousands of runs add up in `c`.
class Matrices {
 public:
  explicit Matrices(long n) : n_(static_cast<std::size_t>(n)) {
    for (std::size_t i = 0; i < n_ * n_; ++i) {
      a_[i] = static_cast<std::int32_t>(i % 7);
      b_[i] = static_cast<std::int32_t>(i % 5);
    }
  }
  Square a() { return {a_.data(), n_, n_}; }
  Square b() { return {b_.data(), n_, n_}; }
  Square c() { return {c_.data(), n_, n_}; }

  /// `c` holds `runs` times the product: compared by the sum of all its numbers.
  void check_product(long runs) {
    long sum = 0;
    long expected = 0;
    for (const std::int32_t value : c_) sum += value;
    for (std::size_t k = 0; k < n_; ++k) {
      long column_of_a = 0;
      long row_of_b = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        column_of_a += a().row(i)[k];
        row_of_b += b().row(k)[i];
      }
      expected += column_of_a * row_of_b;
    }
    check(sum == runs * expected);
  }

 private:
  std::size_t n_;
  std::vector<std::int32_t> a_ = std::vector<std::int32_t>(n_ * n_);
  std::vector<std::int32_t> b_ = std::vector<std::int32_t>(n_ * n_);
  std::vector<std::int32_t> c_ = std::vector<std::int32_t>(n_ * n_);
};

}  // namespace bench
