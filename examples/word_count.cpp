// Reading files, which blocks, without stopping any task: each file is read in spawn_blocking, by a
// task of a JoinSet. usage: word_count [FILE...]; without files it counts in three of its own.
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>

namespace {

namespace fs = std::filesystem;

// [read]
std::size_t count_words(const fs::path& path) {  // a plain function, which waits for the disk
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't read " + path.string());
  std::size_t words = 0;
  for (std::string word; file >> word;) ++words;
  return words;
}

struct Count {
  Count(std::string file, std::size_t count) : name(std::move(file)), words(count) {}
  std::string name;
  std::size_t words;
};

rouse::Async<Count> count_file(fs::path path) {
  const std::size_t words = co_await rouse::spawn_blocking(count_words, path);
  co_return Count(path.filename().string(), words);
}

rouse::Async<std::map<std::string, std::size_t>> count_all(std::vector<fs::path> files) {
  rouse::JoinSet<Count> tasks;
  for (const fs::path& file : files) tasks.spawn(count_file, file);

  std::map<std::string, std::size_t> counts;  // tasks end in any order; the map sorts
  while (auto count = co_await tasks.join_next()) counts[count->name] += count->words;
  co_return counts;
}
// [/read]

/// A folder with three files, removed with it.
class SampleFiles {
 public:
  SampleFiles() : folder_(fs::temp_directory_path() / ("rouse-" + unique_name())) {
    fs::create_directory(folder_);
    write("ash.txt", "one\n");
    write("birch.txt", "two words\n");
    write("cedar.txt", "and these\nare five words\n");
  }
  SampleFiles(const SampleFiles&) = delete;
  SampleFiles& operator=(const SampleFiles&) = delete;
  ~SampleFiles() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::vector<fs::path> files() const {
    return {fs::directory_iterator(folder_), fs::directory_iterator()};
  }

 private:
  static std::string unique_name() {
    std::string name = "word-count-XXXXXX";
    std::random_device random;
    for (char& c : name) {
      if (c == 'X') c = static_cast<char>('a' + random() % 26);
    }
    return name;
  }
  void write(const char* name, const char* text) const { std::ofstream(folder_ / name) << text; }

  fs::path folder_;
};

rouse::Async<void> async_main(std::vector<fs::path> files) {
  const auto counts = co_await count_all(std::move(files));
  std::size_t total = 0;
  for (const auto& [name, words] : counts) {
    std::printf("%6zu %s\n", words, name.c_str());
    total += words;
  }
  std::printf("%6zu total\n", total);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return rouse::run(async_main, std::vector<fs::path>(argv + 1, argv + argc));
  const SampleFiles samples;
  return rouse::run(async_main, samples.files());
}
