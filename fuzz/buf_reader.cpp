// BufReader: operations in any order over a reader that gives its bytes in pieces of any size, some
// of them dropped midway. After each, what was given and what is in the buffer are, one after the
// other, what the reader below has given; and what was given is what a plain string would give.
#include "rouse/io/buf_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "rouse/io/error.hpp"
#include "rouse/io/take.hpp"

#include "chunked.hpp"
#include "input.hpp"

namespace rouse::fuzz {
namespace {

class Run {
 public:
  explicit Run(Input& input)
      : capacity_(1 + input.below(40)),
        end_(input.below(4) == 3 ? std::make_error_code(std::errc::io_error) : std::error_code()),
        text_(input.text(input.byte())),
        below_(text_, Plan(input.text(input.below(64))), end_),
        reader_(below_, capacity_),
        input_(input) {}

  void step() {
    using Operation = void (Run::*)();
    static constexpr std::array<Operation, 7> operations{
        &Run::read,        &Run::read_exact, &Run::read_until,      &Run::lines,
        &Run::read_to_end, &Run::take,       &Run::fill_and_consume};
    (this->*operations.at(input_.below(operations.size())))();
    const std::string buffered = to_text(reader_.buffer());
    require(buffered == text_.substr(at_, buffered.size()), "the buffer is what comes next");
    require(below_.given() == at_ + buffered.size(), "nothing is lost or given twice");
    require(buffered.size() <= capacity_, "the buffer holds no more than its capacity");
  }

 private:
  static std::string to_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] std::size_t left() const { return text_.size() - at_; }

  /// So many bytes were given, and these.
  void gave(const std::string& bytes) {
    require(bytes == text_.substr(at_, bytes.size()), "what is given is what comes next");
    at_ += bytes.size();
  }
  template <class Op>
  auto finish(Op& op) {
    return finish_or_drop(input_, [&](Context& cx) { return op.poll_result(cx); });
  }

  void check_some(const std::optional<Result<std::size_t>>& done, const std::string& buf) {
    if (!done) return;
    if (!*done) return require(done->error() == end_ && left() == 0, "an error at the end only");
    require(**done <= buf.size(), "not more than asked for");
    require(**done > 0 || buf.empty() || left() == 0, "0 is the end");
    gave(buf.substr(0, **done));
  }
  void read() {
    std::string buf(input_.below(64), '?');
    auto op = reader_.read(buf);
    check_some(finish(op), buf);
  }
  void read_exact() {
    std::string buf(input_.below(64), '?');
    auto op = reader_.read_exact(buf);
    const auto done = finish(op);
    if (done && *done) require(op.filled() == buf.size(), "read_exact fills the buffer");
    if (done && !*done) {
      require(op.filled() == left() && left() < buf.size(),
              "read_exact ends early at the end only");
      const std::error_code early = end_ ? end_ : make_error_code(io::Error::unexpected_eof);
      require(done->error() == early, "and says so");
    }
    gave(buf.substr(0, op.filled()));
  }
  void read_until() {
    const auto delimiter = static_cast<char>(input_.byte());
    const std::size_t limit = input_.below(64);
    std::string out("before");
    auto op = reader_.read_until(delimiter, out, limit);
    const auto done = finish(op);
    require(out.starts_with("before"), "read_until appends");
    out.erase(0, 6);
    const std::size_t found = text_.find(delimiter, at_);
    const bool ends = found == std::string::npos;
    const std::size_t before = ends ? left() : found - at_;
    if (!done) {
      require(out.size() <= before, "a dropped read_until has not seen the delimiter");
    } else if (before > limit) {
      require(!*done && done->error() == io::Error::too_long, "read_until knows its limit");
      require(out.size() <= limit, "and gives no more than that");
    } else if (ends && end_) {
      require(!*done && done->error() == end_ && out.size() == before, "an error after all bytes");
    } else {
      require(*done && **done == out.size() && out.size() == before + (ends ? 0 : 1),
              "read_until gives all up to the delimiter, and with it");
    }
    gave(out);
  }
  void lines() {
    auto lines = reader_.lines();
    for (std::size_t count = 1 + input_.below(4); count != 0; --count) {
      auto op = lines.next_line();
      const auto done = finish(op);
      const std::size_t newline = text_.find('\n', at_);
      if (!done) {  // what was read of the line is lost with the Lines
        const std::size_t now = below_.given() - reader_.buffer().size();
        require(now >= at_ && now <= newline, "a dropped line has not ended");
        at_ = now;
        return;
      }
      if (newline == std::string::npos) {
        const std::string last = text_.substr(at_);
        at_ = text_.size();
        if (end_) return require(!*done && done->error() == end_, "an error instead of the end");
        return require(
            *done && (**done).value_or("") == last && (**done).has_value() != last.empty(),
            "the last line may have no end");
      }
      std::string line = text_.substr(at_, newline - at_);
      if (line.ends_with('\r')) line.pop_back();
      require(*done && ***done == line, "a line without its end");
      at_ = newline + 1;
    }
  }
  void check_to_end(const std::optional<Result<std::size_t>>& done, std::string out,
                    std::size_t there_is, std::size_t limit) {
    if (done && there_is > limit) {
      require(!*done && done->error() == io::Error::too_long && out.size() == limit,
              "read_to_end knows its limit");
      out = text_.substr(at_, limit + 1);  // one more is lost
    } else if (done && there_is == left() && end_) {
      require(!*done && done->error() == end_ && out.size() == there_is, "an error after all");
    } else if (done) {
      require(*done && **done == out.size() && out.size() == there_is, "read_to_end gives all");
    }
    gave(out);
  }
  void read_to_end() {
    const std::size_t limit = input_.byte();
    std::string out;
    auto op = reader_.read_to_end(out, limit);
    const auto done = finish(op);
    check_to_end(done, out, left(), limit);
  }
  void take() {
    const std::size_t most = input_.below(64);
    const std::size_t limit = input_.below(64);
    auto part = io::take(reader_, most);
    std::string out;
    auto op = part.read_to_end(out, limit);
    const auto done = finish(op);
    const std::size_t there_is = std::min(most, left());
    const bool ends_by_itself = most <= left();  // before it could see the reader's error
    if (ends_by_itself && there_is <= limit) {
      if (done) require(*done && **done == most && part.left() == 0, "take gives so many bytes");
      return gave(out);
    }
    check_to_end(done, out, there_is, limit);
  }
  void fill_and_consume() {
    const auto done =
        finish_or_drop(input_, [&](Context& cx) { return reader_.poll_fill_buf(cx); });
    if (!done) return;
    if (!*done) return require(done->error() == end_ && left() == 0, "an error at the end only");
    require(!(*done)->empty() || left() == 0, "nothing is the end");
    const std::size_t n = std::min<std::size_t>(input_.byte(), (*done)->size());
    gave(to_text((*done)->first(n)));
    reader_.consume(n);
  }

  std::size_t capacity_;
  std::error_code end_;
  std::string text_;
  ChunkedReader below_;
  io::BufReader<ChunkedReader&> reader_;
  Input& input_;
  std::size_t at_ = 0;  // so much of the text was given
};

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::Input input(data, size);
  rouse::fuzz::Run run(input);
  while (!input.empty()) run.step();
  return 0;
}
