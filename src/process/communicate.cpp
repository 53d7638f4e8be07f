#include "process/communicate.hpp"

#include <system_error>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/read_to_end.hpp"
#include "rouse/io/write_all.hpp"

namespace rouse::process {
namespace {

/// Writes the child's input and reads both of its outputs, all concurrently: a child that waits on
/// one pipe must not block another.
class Communication : public ResultFuture<Communication, void> {
 public:
  Communication(Child& child, const std::string& input, std::string& out, std::string& err,
                std::size_t limit) noexcept
      : child_(child) {
    if (child.stdin_) writing_.emplace(*child.stdin_, input);
    if (child.stdout_) out_.emplace(*child.stdout_, out, limit);
    if (child.stderr_) err_.emplace(*child.stderr_, err, limit);
  }
  Poll<Result<void>> poll_result(Context& cx) {
    for (const Result<void>& step : {write(cx), read(out_, cx), read(err_, cx)}) {
      if (!step) return Poll<Result<void>>::ready(step);
    }
    if (writing_ || out_ || err_) return pending;
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Communication, "communicate", all_of, &Communication::writing_, &Communication::out_,
              &Communication::err_)

 private:
  using Reading = io::ReadToEnd<ChildOutput, std::string>;

  Result<void> write(Context& cx) {
    if (!writing_) return {};
    const auto polled = (*writing_).poll_result(cx);
    if (polled.is_pending()) return {};
    writing_.reset();
    child_.stdin_.reset();  // the end of its input
    const Result<void>& written = polled.value();
    if (!written && written.error() == std::errc::broken_pipe) return {};  // it wants no more
    return written;
  }
  static Result<void> read(internal::Maybe<Reading>& reading, Context& cx) {
    if (!reading) return {};
    const auto polled = (*reading).poll_result(cx);
    if (polled.is_pending()) return {};
    reading.reset();
    if (!polled.value()) return polled.value().error();
    return {};
  }

  Child& child_;
  internal::Maybe<io::WriteAll<ChildStdin>> writing_;
  internal::Maybe<Reading> out_;
  internal::Maybe<Reading> err_;
};

}  // namespace

AsyncResult<Output> communicate(Child child, std::string input, std::size_t limit) {
  if (!input.empty() && !child.stdin_) co_return std::errc::invalid_argument;
  std::string out;
  std::string err;
  const Result<void> done = co_await Communication(child, input, out, err, limit).result();
  if (!done) {
    static_cast<void>(child.start_kill());
    co_return done.error();
  }
  const ExitStatus status = co_await child.wait();
  co_return Output(status, std::move(out), std::move(err));
}

}  // namespace rouse::process
