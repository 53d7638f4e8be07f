// A list that comes in pages, read as a stream. The generator asks for a page when it needs one;
// three details are fetched at the same time, and printed in order, two a line; and no page is
// asked for that nobody reads.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>

namespace stream = rouse::stream;

namespace {

// Stands for a server: a page has three names, and takes a moment to come.
rouse::Async<std::vector<std::string>> fetch_page(std::size_t page) {
  static const std::vector<std::string> names{"ash",   "beech", "birch",  "cedar", "elm", "fir",
                                              "hazel", "larch", "linden", "maple", "oak", "pine"};
  std::printf("(page %zu)\n", page);
  co_await rouse::yield_now();
  std::vector<std::string> found;
  for (std::size_t i = 3 * page; i < 3 * page + 3 && i < names.size(); ++i) {
    found.push_back(names[i]);
  }
  co_return found;
}

// Short names take longer.
rouse::Async<std::string> fetch_details(std::string name) {
  for (std::size_t i = name.size(); i < 8; ++i) co_await rouse::yield_now();
  co_return name + " has " + std::to_string(name.size()) + " letters";
}

// [trees]
rouse::AsyncStream<std::string> trees() {
  for (std::size_t page = 0;; ++page) {
    const std::vector<std::string> names = co_await fetch_page(page);
    if (names.empty()) co_return;
    for (const std::string& name : names) co_yield name;
  }
}

rouse::Async<void> show_some() {
  auto long_names =
      stream::filter(trees(), [](const std::string& name) { return name.size() > 3; });
  auto fetches = stream::map(stream::take(std::move(long_names), 5), fetch_details);
  auto lines = stream::chunks(stream::buffered(std::move(fetches), 3), 2);
  while (const auto line = co_await stream::next(lines)) {
    for (const std::string& details : *line) std::printf("%s. ", details.c_str());
    std::printf("(%zu)\n", line->size());
  }
}
// [/trees]

}  // namespace

int main() { return rouse::run(show_some); }
