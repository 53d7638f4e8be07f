// The command line that all programs with rows share:
//   PROGRAM --rows                    the names of its rows
//   PROGRAM ROW WORKERS N             one row once, its values on one line
//   PROGRAM serve echo|http WORKERS   prints its port, serves until it is killed
#pragma once

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

/// No values: the row is not for so many workers.
using RunRow = std::vector<double> (*)(unsigned workers, long n);
struct Row {
  std::string_view name;
  RunRow run;
};

/// Returns only if it does not serve with so many workers.
using Serve = void (*)(bool http, unsigned workers);

inline constexpr int exit_usage = 2;
inline constexpr int exit_wrong_workers = 3;

inline int print_usage() {
  std::fputs("usage: --rows | ROW WORKERS N | serve echo|http WORKERS\n", stderr);
  return exit_usage;
}

inline int print_wrong_workers() {
  std::fputs("not with so many workers\n", stderr);
  return exit_wrong_workers;
}

inline int run_row(const Row& row, unsigned workers, long n) {
  const std::vector<double> values = row.run(workers, n);
  if (values.empty()) return print_wrong_workers();
  const char* before = "";
  for (const double value : values) {
    std::printf("%s%.6g", before, value);
    before = " ";
  }
  std::printf("\n");
  return 0;
}

/// What main() is to return.
inline int run_program(int argc, char** argv, std::span<const Row> rows, Serve serve = nullptr) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "--rows") {
    for (const Row& row : rows)
      std::printf("%.*s\n", static_cast<int>(row.name.size()), row.name.data());
    return 0;
  }
  if (arguments.size() != 3) return print_usage();
  if (arguments[0] == "serve" && serve != nullptr) {
    if (arguments[1] != "echo" && arguments[1] != "http") return print_usage();
    serve(arguments[1] == "http", static_cast<unsigned>(std::atoi(argv[3])));
    return print_wrong_workers();
  }
  for (const Row& row : rows) {
    if (row.name != arguments[0]) continue;
    return run_row(row, static_cast<unsigned>(std::atoi(argv[2])), std::atol(argv[3]));
  }
  std::fprintf(stderr, "no such row: %s\n", argv[1]);
  return exit_usage;
}

}  // namespace bench
