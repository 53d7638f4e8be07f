// Frames, by length, by line, by any delimiter, and bytes as they are. However the bytes arrive,
// and however often a `next` is dropped, FramedRead gives what a decoder gives that sees all bytes
// at once. What FramedWrite sends through a writer that takes little at a time is received as it
// was sent, and never a part of a frame.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/io/bytes_codec.hpp"
#include "rouse/io/framed.hpp"

#include "chunked.hpp"
#include "framing_oracle.hpp"
#include "input.hpp"

namespace rouse::fuzz {
namespace {

std::string to_text(const std::string& frame) { return frame; }
std::string to_text(const std::vector<std::byte>& frame) {
  return {reinterpret_cast<const char*>(frame.data()), frame.size()};
}

template <class Codec>
class Frames {
 public:
  Frames(Codec codec, ChunkedReader reader, Input& input)
      : frames_(std::move(reader), std::move(codec)), input_(input) {}

  auto next() {
    for (;;) {
      auto future = frames_.next();  // dropped and made anew: nothing is lost
      auto got = finish_or_drop(input_, [&](Context& cx) { return future.poll(cx); });
      if (got) return *std::move(got);
    }
  }
  void check_end() { require(!next() && !next(), "then nothing any more"); }

 private:
  io::FramedRead<ChunkedReader, Codec> frames_;
  Input& input_;
};

template <class Codec>
void check_reading(Codec codec, const ChunkedReader& reader, const Items& expected, Input& input) {
  Frames<Codec> frames(std::move(codec), reader, input);
  for (const Item& item : expected) {
    const auto got = frames.next();
    require(got.has_value(), "as many items as the plain decoder has");
    if (item.error)
      require(!*got && got->error() == item.error, "each error as the plain decoder has it");
    else
      require(*got && to_text(**got) == item.frame, "each frame as the plain decoder has it");
  }
  frames.check_end();
}

/// However they are cut, all bytes arrive.
void check_bytes(const ChunkedReader& reader, const std::string& bytes, std::error_code end,
                 Input& input) {
  Frames<io::BytesCodec> frames(io::BytesCodec(), reader, input);
  std::string all;
  while (all.size() < bytes.size()) {
    const auto got = frames.next();
    require(got && *got && !(*got)->empty(), "there are bytes left");
    all += to_text(**got);
  }
  require(all == bytes, "the bytes as they were");
  if (end) {
    const auto got = frames.next();
    require(got && !*got && got->error() == end, "then the reader's error");
  }
  frames.check_end();
}

/// Sends frames, of which some are dropped midway. Each begins with its own letter. Of those that
/// fit none is refused.
template <class Codec, class Fits>
void check_writing(Codec codec, Fits fits, Input& input) {
  struct Sent {
    std::string frame;
    bool for_sure;
  };
  ChunkedWriter writer(Plan(input.text(input.below(32))));
  std::vector<Sent> sent;
  {
    io::FramedWrite frames(writer, codec);
    const std::size_t count = input.below(16);
    for (std::size_t i = 0; i < count; ++i) {
      std::string frame(1, static_cast<char>('a' + i));
      const std::size_t size = input.below(256);
      frame += input.flag() ? std::string(size * 64, '.') : input.text(size);
      auto future = input.flag() ? frames.send(frame) : frames.feed(frame);
      const auto done = finish_or_drop(input, [&](Context& cx) { return future.poll_result(cx); });
      const bool is_refused = done && !*done;
      if (is_refused) {
        require(!fits(frame), "only what does not fit is refused");
        continue;
      }
      sent.push_back({.frame = frame, .for_sure = done.has_value()});
    }
    for (;;) {
      auto flush = frames.flush();
      const auto done = finish_or_drop(input, [&](Context& cx) { return flush.poll_result(cx); });
      if (done) break;
    }
    require(frames.buffer().empty(), "after a flush nothing is left");
  }
  ChunkedReader reader(writer.taken, Plan(""), {});
  io::FramedRead received(reader, codec);
  testing::CountingWaker waker;
  for (std::size_t i = 0;;) {
    Context cx(waker.waker());
    auto got = received.next().poll(cx);
    require(got.is_ready(), "all of it has arrived");
    while (i < sent.size() && (!got.value() || to_text(got.value()->value()) != sent[i].frame)) {
      require(!sent[i++].for_sure, "what was sent is received, in order");
    }
    if (!got.value()) return;
    require(i++ < sent.size(), "nothing is received that was not sent, or twice");
  }
}

void check_writing_of(std::size_t kind, const Config& config, Input& input) {
  switch (kind) {
    case 0: {
      const std::size_t most = config.width == 1 ? 255 : config.width == 2 ? 65'535 : SIZE_MAX;
      return check_writing(
          config.simple(),
          [&](const std::string& f) { return f.size() <= std::min(most, config.max_frame); },
          input);
    }
    case 1:
      return check_writing(
          config.by_line(),
          [&](const std::string& f) {
            return f.size() <= config.max_frame && f.find('\n') == std::string::npos &&
                   !f.ends_with('\r');
          },
          input);
    default:
      return check_writing(
          config.by_delimiter(),
          [&](const std::string& f) {
            return f.size() <= config.max_frame &&
                   f.find_first_of(Config::delimiters) == std::string::npos;
          },
          input);
  }
}

void run(Input input) {
  const Config config(input);
  const std::error_code end =
      input.below(4) == 3 ? std::make_error_code(std::errc::io_error) : std::error_code();
  const std::size_t kind = input.below(4);
  if (input.flag()) return check_writing_of(kind, config, input);
  const Plan plan(input.text(input.below(32)));
  Input drops = input;  // the frames' bytes also say when a future is dropped
  const std::string bytes = input.rest();
  const ChunkedReader reader(bytes, plan, end);
  switch (kind) {
    case 0:
      return check_reading(config.by_length(), reader, decode_by_length(bytes, config, end), drops);
    case 1:
      return check_reading(config.by_line(), reader,
                           decode_by_delimiter(bytes, "\n", true, config, end), drops);
    case 2:
      return check_reading(config.by_delimiter(), reader,
                           decode_by_delimiter(bytes, Config::delimiters, false, config, end),
                           drops);
    default:
      return check_bytes(reader, bytes, end, drops);
  }
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
