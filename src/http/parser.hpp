// Parser: messages out of bytes, one after another: requests, or answers. It makes no I/O and no
// decisions about it: bytes go in, a Head and the bytes of a body come out, and it stops at the end
// of the head and at the end of the message, so that nothing of the next one is touched.
//
//   head --parse_head--> body --parse_body--> complete --next--> head
//      '-----------------------------------------^          any --> failed
//
// llhttp does the reading, without any of its lenient flags; head_rules.cpp judges what it read.
// How the bytes were cut into pieces makes no difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/internal/box.hpp"

#include "http/head.hpp"

namespace rouse::http {

/// How long the parts of a message may be.
class ParserLimits {
 public:
  ParserLimits() noexcept {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice
  std::size_t target = std::size_t{8} * 1024;
  std::size_t head = std::size_t{32} * 1024;  // all of it; and the same for trailers
  std::size_t fields = 100;
  std::size_t chunk_extensions = std::size_t{4} * 1024;  // in one message
};

class Parser {
 public:
  enum class Kind : std::uint8_t { requests, responses };
  enum class Stage : std::uint8_t { head, body, complete, failed };

  explicit Parser(Kind kind, const ParserLimits& limits = ParserLimits());
  Parser(Parser&& other) noexcept;
  Parser& operator=(Parser&& other) noexcept;
  ~Parser();

  [[nodiscard]] Stage stage() const noexcept;
  /// In stage head: how many of the bytes it used. All of them, unless the stage is another then.
  [[nodiscard]] std::size_t parse_head(std::span<const std::byte> bytes);

  struct Taken {
    std::size_t used = 0;   // of what came
    std::size_t given = 0;  // bytes of the body
  };
  /// In stage body: puts bytes of the body into `out`, which may be where they came. Uses at least
  /// one byte, and no more than `out` has room for.
  [[nodiscard]] Taken parse_body(std::span<const std::byte> bytes, std::span<std::byte> out);
  /// The peer has ended. Complete if that ends an answer, otherwise failed; in the midst of nothing
  /// it stays in stage head.
  void end_of_input();

  /// From stage body or complete on, until `next`.
  [[nodiscard]] Head& head() noexcept;
  /// In stage failed.
  [[nodiscard]] const Refusal& refusal() const noexcept;
  /// Whether a byte of this message was used.
  [[nodiscard]] bool has_begun() const noexcept;

  /// Another message follows. In stage complete.
  void next() noexcept;
  /// The answer that comes is one to HEAD, or to CONNECT if that was granted: it has no body,
  /// whatever it says. In stage head; holds until `next`.
  void expect_no_body() noexcept;

 private:
  struct State;
  struct Callbacks;
  internal::Box<State> state_;
};

}  // namespace rouse::http
