// Frames, by length and by line. However the bytes arrive, and however often a `next` is dropped,
// FramedRead gives what a decoder gives that sees all bytes at once. What FramedWrite sends through
// a writer that takes little at a time is received as it was sent, and never a part of a frame.
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/io/error.hpp"
#include "rouse/io/framed.hpp"
#include "rouse/io/length_delimited.hpp"
#include "rouse/io/lines_codec.hpp"

#include "chunked.hpp"
#include "input.hpp"

namespace rouse::fuzz {
namespace {

struct Config {
  explicit Config(Input& input)
      : head_bytes(std::size_t{1} << input.below(4)),
        little_endian(input.flag()),
        max_frame(input.below(4) == 0 ? input.number(3) : input.below(64)) {}

  [[nodiscard]] io::LengthDelimited by_length() const {
    io::LengthDelimited codec;
    codec.head_bytes(head_bytes).max_frame(max_frame);
    if (little_endian) codec.little_endian();
    return codec;
  }
  [[nodiscard]] io::LinesCodec by_line() const { return io::LinesCodec(max_frame); }

  std::size_t head_bytes;
  bool little_endian;
  std::size_t max_frame;
};

struct Decoded {
  std::vector<std::string> frames;
  std::error_code error;
};

/// The frames of `bytes`, after which the reader says `end`.
Decoded decode_by_length(const std::string& bytes, const Config& config, std::error_code end) {
  Decoded decoded;
  const std::error_code cut = end ? end : make_error_code(io::Error::unexpected_end);
  for (std::size_t at = 0;;) {
    const std::size_t left = bytes.size() - at;
    decoded.error = left == 0 ? end : cut;
    if (left < config.head_bytes) return decoded;
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < config.head_bytes; ++i) {
      const std::size_t place = config.little_endian ? i : config.head_bytes - 1 - i;
      length |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * place);
    }
    decoded.error = io::Error::too_long;
    if (length > config.max_frame) return decoded;
    decoded.error = cut;
    if (length > left - config.head_bytes) return decoded;
    decoded.frames.push_back(bytes.substr(at + config.head_bytes, length));
    at += config.head_bytes + length;
  }
}

Decoded decode_by_line(const std::string& bytes, const Config& config, std::error_code end) {
  Decoded decoded;
  for (std::size_t at = 0;;) {
    const std::size_t newline = bytes.find('\n', at);
    const bool is_last = newline == std::string::npos;
    std::string line = bytes.substr(at, newline - at);
    if (line.size() > config.max_frame) {
      decoded.error = io::Error::too_long;
      return decoded;
    }
    if (is_last) {
      decoded.error = end;
      if (!end && !line.empty()) decoded.frames.push_back(line);
      return decoded;
    }
    if (line.ends_with('\r')) line.pop_back();
    decoded.frames.push_back(line);
    at = newline + 1;
  }
}

std::string to_text(const std::string& frame) { return frame; }
std::string to_text(const std::vector<std::byte>& frame) {
  return {reinterpret_cast<const char*>(frame.data()), frame.size()};
}

template <class Codec>
void check_reading(Codec codec, ChunkedReader reader, const Decoded& expected, Input& input) {
  io::FramedRead frames(reader, std::move(codec));
  const auto next = [&] {
    for (;;) {
      auto future = frames.next();  // dropped and made anew: nothing is lost
      auto got = finish_or_drop(input, [&](Context& cx) { return future.poll(cx); });
      if (got) return *std::move(got);
    }
  };
  for (const std::string& frame : expected.frames) {
    const auto got = next();
    require(got && *got && to_text(**got) == frame, "each frame as the plain decoder has it");
  }
  if (expected.error) {
    const auto got = next();
    require(got && !*got && got->error() == expected.error, "then the plain decoder's error");
  }
  require(!next() && !next(), "then nothing any more");
}

/// Sends frames, of which some are dropped midway. Each begins with its own letter.
template <class Codec>
void check_writing(Codec codec, std::size_t longest, Input& input) {
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
        require(frame.size() > longest || frame.find('\n') != std::string::npos ||
                    frame.ends_with('\r'),
                "only what does not fit is refused");
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

void run(Input input) {
  const Config config(input);
  const std::error_code end =
      input.below(4) == 3 ? std::make_error_code(std::errc::io_error) : std::error_code();
  const bool by_line = input.flag();
  if (input.flag()) {
    if (by_line) return check_writing(config.by_line(), config.max_frame, input);
    const std::size_t most = config.head_bytes == 1 ? 255 : config.max_frame;
    return check_writing(config.by_length(), std::min(most, config.max_frame), input);
  }
  const Plan plan(input.text(input.below(32)));
  Input drops = input;  // the frames' bytes also say when a future is dropped
  const std::string bytes = input.rest();
  const ChunkedReader reader(bytes, plan, end);
  if (by_line) {
    check_reading(config.by_line(), reader, decode_by_line(bytes, config, end), drops);
  } else {
    check_reading(config.by_length(), reader, decode_by_length(bytes, config, end), drops);
  }
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
