#include "rouse/process/command.hpp"

#include "rouse/base/assert.hpp"

#include "process/launch.hpp"

namespace rouse::process {
namespace {

Attempt<Output> run_for_output(Command command) {
  Child child = Launch(command, true).start();
  co_return co_await std::move(child).wait_with_output().result();
}

Attempt<ExitStatus> run_for_status(Command command) {
  Child child = command.spawn();
  child.stdout_.reset();
  child.stderr_.reset();
  co_return co_await child.wait();
}

}  // namespace

Stdio Stdio::from(io::OwnedFd fd) {
  ROUSE_ASSERT(fd, "Stdio::from needs an open descriptor: this OwnedFd has none");
  Stdio stdio(How::given);
  stdio.fd_ = std::make_shared<io::OwnedFd>(std::move(fd));
  return stdio;
}

Command& Command::arg(std::string argument) {
  args_.push_back(std::move(argument));
  return *this;
}
Command& Command::env(std::string name, std::string value) {
  changes_.insert_or_assign(std::move(name), std::move(value));
  return *this;
}
Command& Command::env_remove(std::string name) {
  changes_.insert_or_assign(std::move(name), std::nullopt);
  return *this;
}
Command& Command::env_clear() {
  clears_environment_ = true;
  changes_.clear();
  return *this;
}
Command& Command::current_dir(std::string path) {
  current_dir_ = std::move(path);
  return *this;
}
Command& Command::stdin_(Stdio stdio) {
  stdio_[0] = std::move(stdio);
  return *this;
}
Command& Command::stdout_(Stdio stdio) {
  stdio_[1] = std::move(stdio);
  return *this;
}
Command& Command::stderr_(Stdio stdio) {
  stdio_[2] = std::move(stdio);
  return *this;
}
Command& Command::process_group(int group) {
  process_group_ = group;
  return *this;
}
Command& Command::kill_on_drop(bool on) {
  kill_on_drop_ = on;
  return *this;
}
Command& Command::output_limit(std::size_t bytes) {
  output_limit_ = bytes;
  return *this;
}

std::vector<std::string> Command::environment() const {
  std::vector<std::string> all;
  if (!clears_environment_) {
    for (std::string& entry : sys::environment()) {
      const bool is_changed = changes_.contains(entry.substr(0, entry.find('=')));
      if (!is_changed) all.push_back(std::move(entry));
    }
  }
  for (const auto& [name, value] : changes_) {
    if (value) all.push_back(name + '=' + *value);
  }
  return all;
}

Child Command::spawn() const { return Launch(*this, false).start(); }
Attempt<Output> Command::output() const { return run_for_output(*this); }
Attempt<ExitStatus> Command::status() const { return run_for_status(*this); }

}  // namespace rouse::process
