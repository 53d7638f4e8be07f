#include "rouse/process/command.hpp"

#include "rouse/base/assert.hpp"
#include "rouse/core/fallible.hpp"

#include "process/launch.hpp"

namespace rouse::process {
namespace {

/// Reads what a child writes to both of its streams at once: one that waits until it is read must
/// not wait for the other.
class ReadBoth : public Fallible<ReadBoth, void> {
 public:
  ReadBoth(Child& child, std::string& out, std::string& err, std::size_t limit) noexcept {
    if (child.stdout_) out_.emplace(*child.stdout_, out, limit);
    if (child.stderr_) err_.emplace(*child.stderr_, err, limit);
  }
  Poll<Result<void>> poll_result(Context& cx) {
    for (std::optional<Reading>* reading : {&out_, &err_}) {
      if (!*reading) continue;
      const auto polled = (*reading)->poll_result(cx);
      if (polled.is_pending()) continue;
      if (!polled.value()) return Poll<Result<void>>::ready(polled.value().error());
      reading->reset();
    }
    if (out_ || err_) return pending;
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  using Reading = io::ReadToEnd<ChildOutput, std::string>;
  std::optional<Reading> out_;
  std::optional<Reading> err_;
};

Attempt<Output> run_for_output(Command command) {
  Child child = Launch(command, true).start();
  child.stdin_.reset();
  std::string out;
  std::string err;
  const Result<void> read =
      co_await ReadBoth(child, out, err, Launch::output_limit(command)).result();
  if (!read) {
    static_cast<void>(child.start_kill());
    co_return read.error();
  }
  const ExitStatus status = co_await child.wait();
  co_return Output(status, std::move(out), std::move(err));
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
