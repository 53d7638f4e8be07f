// Random pipelines against plain vectors: whatever adapters are put together, in whatever order,
// and wherever the streams wait, the items are those of the same steps done on a vector.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/any_stream.hpp"
#include "rouse/stream/buffered.hpp"
#include "rouse/stream/chain.hpp"
#include "rouse/stream/chunks.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/filter.hpp"
#include "rouse/stream/filter_map.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/skip.hpp"
#include "rouse/stream/skip_while.hpp"
#include "rouse/stream/take.hpp"
#include "rouse/stream/take_while.hpp"
#include "rouse/stream/then.hpp"
#include "rouse/stream/zip.hpp"

namespace rouse::test {
namespace {

using Ints = std::vector<int>;
using Numbers = stream::AnyStream<int>;

AsyncStream<int> with_pauses(Ints items, int pause) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (static_cast<int>(i) % pause == 0) co_await yield_now();
    co_yield items[i];
  }
}

Async<int> slowly(int x) {
  for (int i = 0; i < x % 3; ++i) co_await yield_now();
  co_return x + 1;
}

int sum(const Ints& items) {
  int total = 0;
  for (const int item : items) total += item;
  return total;
}

/// A stream and what it must give.
struct Pipeline {
  Pipeline(Numbers its_stream, Ints its_items)
      : stream(std::move(its_stream)), items(std::move(its_items)) {}
  Numbers stream;
  Ints items;
  std::string steps;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int limit) { return std::uniform_int_distribution<>(0, limit - 1)(engine_); }

  Pipeline pipeline() {
    Pipeline made = source();
    for (int left = below(7); left > 0; --left) step(made);
    return made;
  }

 private:
  Pipeline source() {
    Ints items;
    for (int left = below(40); left > 0; --left) items.push_back(below(50));
    if (below(2) == 0) return Pipeline(stream::iter(Ints(items)), items);
    return Pipeline(with_pauses(items, 1 + below(4)), items);
  }

  void step(Pipeline& p) {
    const int kind = below(12);
    const int n = below(10);
    const auto count = static_cast<std::size_t>(n);
    const auto skipped = static_cast<std::ptrdiff_t>(std::min(count, p.items.size()));
    const auto passes = [n](int x) { return x % 10 >= n; };
    p.steps += std::to_string(kind) + '(' + std::to_string(n) + ") ";
    switch (kind) {
      case 0:
        p.stream = stream::map(std::move(p.stream), [n](int x) { return x + n; });
        for (int& item : p.items) item += n;
        break;
      case 1:
        p.stream = stream::filter(std::move(p.stream), passes);
        std::erase_if(p.items, [&](int x) { return !passes(x); });
        break;
      case 2:
        p.stream = stream::filter_map(std::move(p.stream), [passes](int x) {
          return passes(x) ? std::optional(-x) : std::nullopt;
        });
        std::erase_if(p.items, [&](int x) { return !passes(x); });
        for (int& item : p.items) item = -item;
        break;
      case 3:
        p.stream = stream::take(std::move(p.stream), 3 * count);
        p.items.resize(std::min(3 * count, p.items.size()));
        break;
      case 4:
        p.stream = stream::skip(std::move(p.stream), count);
        p.items.erase(p.items.begin(), p.items.begin() + skipped);
        break;
      case 5:
        p.stream = stream::take_while(std::move(p.stream), passes);
        p.items.erase(std::find_if_not(p.items.begin(), p.items.end(), passes), p.items.end());
        break;
      case 6:
        p.stream = stream::skip_while(std::move(p.stream), passes);
        p.items.erase(p.items.begin(), std::find_if_not(p.items.begin(), p.items.end(), passes));
        break;
      case 7: {
        Pipeline second = source();
        p.stream = stream::chain(std::move(p.stream), std::move(second.stream));
        p.items.insert(p.items.end(), second.items.begin(), second.items.end());
        break;
      }
      case 8: {
        Pipeline second = source();
        auto both = stream::zip(std::move(p.stream), std::move(second.stream));
        p.stream = stream::map(std::move(both), [](const std::pair<int, int>& pair) {
          return pair.first - pair.second;
        });
        p.items.resize(std::min(p.items.size(), second.items.size()));
        for (std::size_t i = 0; i < p.items.size(); ++i) p.items[i] -= second.items[i];
        break;
      }
      case 9: {
        p.stream = stream::map(stream::chunks(std::move(p.stream), count + 1), sum);
        Ints sums;
        for (std::size_t i = 0; i < p.items.size(); ++i) {
          if (i % (count + 1) == 0) sums.push_back(0);
          sums.back() += p.items[i];
        }
        p.items = sums;
        break;
      }
      case 10:
        p.stream = stream::buffered(stream::map(std::move(p.stream), slowly), count + 1);
        for (int& item : p.items) ++item;
        break;
      default:
        p.stream = stream::then(std::move(p.stream), slowly);
        for (int& item : p.items) ++item;
        break;
    }
  }

  std::mt19937 engine_;
};

TEST(StreamPipelines, GiveWhatTheSameStepsOnAVectorGive) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Pipeline p = Random(seed).pipeline();
    ASSERT_EQ(block_on(stream::collect(std::move(p.stream))), p.items)
        << "seed " << seed << ", steps " << p.steps;
  }
}

TEST(StreamPipelines, GiveTheSameOnAPool) {
  ThreadPool pool;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Pipeline p = Random(seed).pipeline();
    auto task = pool.spawn(stream::collect(std::move(p.stream)));
    ASSERT_EQ(block_on(std::move(task)), p.items) << "seed " << seed << ", steps " << p.steps;
  }
}

}  // namespace
}  // namespace rouse::test
