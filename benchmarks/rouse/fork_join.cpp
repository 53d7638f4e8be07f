// Fork/join: recursive work whose branches may run on other workers.
#include "support/fork_join.hpp"

#include <cstddef>
#include <tuple>
#include <utility>

#include "rouse/base/inplace_vector.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/parallel_all.hpp"

#include "rows.hpp"
#include "support/measure.hpp"

namespace bench {
namespace {

using rouse::Async;
using rouse::parallel;

Async<long> fork_fib(long n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await parallel(fork_fib(n - 1), fork_fib(n - 2));
  co_return a + b;
}

Async<long> fork_skynet(long first, long size) {
  if (size == 1) co_return first;
  const long step = size / 10;
  const auto sums = co_await [&]<std::size_t... I>(std::index_sequence<I...>) {
    return parallel(fork_skynet(first + static_cast<long>(I) * step, step)...);
  }(std::make_index_sequence<10>());
  co_return std::apply([](auto... sum) { return (sum + ...); }, sums);
}

Async<long> place_queens(long size, long row, Board board) {
  if (row == size) co_return 1;
  rouse::InplaceVector<Async<long>, std::tuple_size_v<Board>> placements;
  for (long column = 0; column < size; ++column) {
    if (is_attacked(board, row, column)) continue;
    placements.push_back(place_queens(size, row + 1, with_queen(board, row, column)));
  }
  long solutions = 0;
  for (const long found : co_await rouse::parallel_all(std::move(placements))) solutions += found;
  co_return solutions;
}

Async<void> multiply(Square c, Square a, Square b) {
  if (c.size() <= small_square) {
    multiply_small(c, a, b);
    co_return;
  }
  for (std::size_t k = 0; k < 2; ++k) {  // both add to all of c
    const auto product = [&](std::size_t i, std::size_t j) {
      return multiply(c.quarter(i, j), a.quarter(i, k), b.quarter(k, j));
    };
    co_await parallel(product(0, 0), product(0, 1), product(1, 0), product(1, 1));
  }
}

}  // namespace

Values fib(unsigned workers, long n) {
  rouse::Runtime rt = make_runtime(workers);
  return {mean_ns(calls_of_fib(n), [&] { check(rt.block_on(fork_fib(n)) == value_of_fib(n)); })};
}

Values skynet(unsigned workers, long n) {
  rouse::Runtime rt = make_runtime(workers);
  return {mean_ns(tasks_of_skynet(n),
                  [&] { check(rt.block_on(fork_skynet(0, n)) == value_of_skynet(n)); })};
}

Values nqueens(unsigned workers, long n) {
  rouse::Runtime rt = make_runtime(workers);
  const double ns =
      mean_ns(1, [&] { check(rt.block_on(place_queens(n, 0, Board{})) == value_of_queens(n)); });
  return {ns / 1e6};
}

Values matmul(unsigned workers, long n) {
  rouse::Runtime rt = make_runtime(workers);
  Matrices matrices(n);
  long runs = 0;
  const double ns = mean_ns(1, [&] {
    rt.block_on(multiply(matrices.c(), matrices.a(), matrices.b()));
    ++runs;
  });
  matrices.check_product(runs);
  return {ns / 1e6};
}

}  // namespace bench
