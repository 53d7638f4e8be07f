// What a Command was told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/base/function.hpp"
#include "rouse/io/read_to_end.hpp"
#include "rouse/process/command.hpp"

namespace rouse::internal {

class CommandState {
 public:
  explicit CommandState(std::string the_program) : program(std::move(the_program)) {}

  struct Change {
    std::string name;
    std::optional<std::string> value;  // nothing: removed
  };
  void change(std::string name, std::optional<std::string> value);
  [[nodiscard]] std::vector<std::string> environment() const;

  std::string program;
  std::optional<std::string> arg0;
  std::vector<std::string> args;
  bool clears_environment = false;
  std::vector<Change> changes;  // of the environment; sorted by name
  std::optional<std::string> current_dir;
  std::optional<process::Stdio> stdio[3];
  std::optional<int> process_group;
  bool new_session = false;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<std::vector<std::uint32_t>> groups;
  std::vector<Function<int()>> pre_exec;
  bool kill_on_drop = false;
  std::size_t output_limit = io::default_read_limit;
};

}  // namespace rouse::internal
