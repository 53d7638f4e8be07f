#include "http/parser.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace rouse::http {
namespace {

using Stage = Parser::Stage;
using Kind = Parser::Kind;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text));
}

/// Everything that a parser says of some bytes, as text: to compare what different cuts give.
class Reading {
 public:
  explicit Reading(Kind kind, const ParserLimits& limits = ParserLimits())
      : parser_(kind, limits), kind_(kind) {}

  void feed(std::string_view piece) {
    while (!piece.empty() && parser_.stage() != Stage::failed) piece.remove_prefix(step(piece));
  }
  void end() {
    parser_.end_of_input();
    tell_end();
  }
  [[nodiscard]] const std::string& said() const { return said_; }
  Parser& parser() { return parser_; }

 private:
  std::size_t step(std::string_view piece) {
    std::size_t used = 0;
    if (parser_.stage() == Stage::head) {
      used = parser_.parse_head(bytes_of(piece));
      if (parser_.stage() == Stage::body || parser_.stage() == Stage::complete) tell_head();
    } else {
      std::array<std::byte, 7> out;
      const Parser::Taken taken = parser_.parse_body(bytes_of(piece), out);
      said_.append(reinterpret_cast<const char*>(out.data()), taken.given);
      used = taken.used;
    }
    tell_end();
    return used;
  }
  void tell_head() {
    const Head& head = parser_.head();
    if (kind_ == Kind::requests) {
      said_ += std::string(name_of(head.method)) + ' ' + head.target;
    } else {
      said_ += std::to_string(number_of(head.status));
    }
    said_ += head.minor_version == 0 ? " 1.0" : " 1.1";
    if (head.keeps_alive) said_ += " keep";
    if (head.is_chunked) said_ += " chunked";
    if (head.content_length) said_ += " length=" + std::to_string(*head.content_length);
    if (head.wants_upgrade) said_ += " upgrade";
    if (head.expects_continue) said_ += " continue";
    for (const auto& [name, value] : head.headers) {
      said_ += " [" + std::string(name) + "|" + std::string(value) + "]";
    }
    said_ += " {";
  }
  void tell_end() {
    if (parser_.stage() == Stage::complete) {
      said_ += "}\n";
      parser_.next();
    } else if (parser_.stage() == Stage::failed) {
      said_ += "refused " + std::to_string(number_of(parser_.refusal().status));
    }
  }

  Parser parser_;
  Kind kind_;
  std::string said_;
};

std::string read(std::string_view text, Kind kind = Kind::requests) {
  Reading reading(kind);
  reading.feed(text);
  return reading.said();
}

/// The same in two pieces, cut anywhere, and byte by byte.
std::string read_in_all_splits(std::string_view text, Kind kind = Kind::requests) {
  const std::string whole = read(text, kind);
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    Reading reading(kind);
    reading.feed(text.substr(0, cut));
    reading.feed(text.substr(cut));
    EXPECT_EQ(reading.said(), whole) << "cut at " << cut;
  }
  Reading slowly(kind);
  for (const char& c : text) slowly.feed({&c, 1});
  EXPECT_EQ(slowly.said(), whole) << "byte by byte";
  return whole;
}

TEST(HttpParser, ARequestWithoutABodyIsCompleteAtItsEmptyLine) {
  EXPECT_EQ(read_in_all_splits("GET /a?b=c HTTP/1.1\r\nHost: here\r\nX: \t 1 2 \t\r\n\r\n"),
            "GET /a?b=c 1.1 keep [Host|here] [X|1 2] {}\n");
}

TEST(HttpParser, PipelinedRequestsComeOutOneByOne) {
  EXPECT_EQ(read_in_all_splits("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
                               "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
                               "\r\nHEAD /3 HTTP/1.0\r\n\r\n"),
            "POST / 1.1 keep length=5 [Host|a] [Content-Length|5] {hello}\n"
            "GET /2 1.1 keep [Host|a] {}\n"
            "HEAD /3 1.0 {}\n");
}

TEST(HttpParser, ChunksAreJoinedAndTrailersDropped) {
  EXPECT_EQ(read_in_all_splits("PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                               "5;a=b\r\nhello\r\n00b\r\n, wide wide\r\n0\r\nX: y\r\n\r\n"
                               "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
            "PUT /x 1.1 keep chunked [Host|a] [Transfer-Encoding|Chunked] {hello, wide wide}\n"
            "GET / 1.1 keep [Host|a] {}\n");
}

TEST(HttpParser, WhetherTheConnectionStaysIsSaidByVersionAndConnection) {
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
            "GET / 1.1 [Host|a] [Connection|close] {}\n");
  EXPECT_EQ(read("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
            "GET / 1.0 keep [Connection|Keep-Alive] {}\n");
}

TEST(HttpParser, AWishForAnotherProtocolOrForContinueIsTold) {
  EXPECT_EQ(read_in_all_splits("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
                               "Upgrade: websocket\r\n\r\n"),
            "GET / 1.1 keep upgrade [Host|a] [Connection|upgrade] [Upgrade|websocket] {}\n");
  EXPECT_EQ(read("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"),
            "PUT / 1.1 keep length=1 continue [Host|a] [Expect|100-continue] [Content-Length|1] "
            "{x}\n");
}

TEST(HttpParser, ARequestToUpgradeKeepsItsBody) {
  EXPECT_EQ(
      read_in_all_splits("POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n"
                         "Content-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
      "POST / 1.1 keep length=3 upgrade [Host|a] [Connection|upgrade] [Upgrade|h2c] "
      "[Content-Length|3] {abc}\nGET / 1.1 keep [Host|a] {}\n");
}

TEST(HttpParser, AnswersEndAtTheirLengthTheirChunksOrTheConnection) {
  EXPECT_EQ(
      read_in_all_splits("HTTP/1.1 100 Continue\r\n\r\n"
                         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
                         "HTTP/1.1 204 No Content\r\n\r\n"
                         "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
                         Kind::responses),
      "100 1.1 keep {}\n200 1.1 keep length=2 [Content-Length|2] {hi}\n204 1.1 keep {}\n"
      "200 1.1 keep chunked [Transfer-Encoding|chunked] {x}\n");
  Reading open(Kind::responses);
  open.feed("HTTP/1.1 200 OK\r\n\r\nall the rest");
  open.end();
  EXPECT_EQ(open.said(), "200 1.1 {all the rest}\n");
}

TEST(HttpParser, AnAnswerToHeadHasNoBodyWhateverItSays) {
  Reading reading(Kind::responses);
  reading.parser().expect_no_body();
  reading.feed(
      "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nHTTP/1.1 201 Created\r\n"
      "Content-Length: 1\r\n\r\nx");
  EXPECT_EQ(reading.said(),
            "200 1.1 keep length=20 [Content-Length|20] {}\n"
            "201 1.1 keep length=1 [Content-Length|1] {x}\n");
}

TEST(HttpParser, AMessageThatEndsEarlyIsRefused) {
  for (const std::string_view text : {"GET", "GET / HTTP/1.1\r\nHost: a\r\n",
                                      "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx"}) {
    Reading reading(Kind::requests);
    reading.feed(text);
    reading.end();
    EXPECT_TRUE(reading.said().ends_with("refused 400")) << text;
  }
  Reading nothing(Kind::requests);
  nothing.end();
  EXPECT_EQ(nothing.said(), "");
}

TEST(HttpParser, LimitsHoldHoweverTheBytesAreCut) {
  ParserLimits limits;
  limits.target = 10;
  limits.head = 60;
  limits.fields = 3;
  const auto status_of = [&](std::string_view text) {
    Reading whole(Kind::requests, limits);
    whole.feed(text);
    Reading slowly(Kind::requests, limits);
    for (const char& c : text) slowly.feed({&c, 1});
    EXPECT_EQ(whole.said(), slowly.said());
    return whole.said();
  };
  EXPECT_EQ(status_of("GET /123456789 HTTP/1.1\r\nHost: a\r\n\r\n"),
            "GET /123456789 1.1 keep [Host|a] {}\n");
  EXPECT_EQ(status_of("GET /1234567890 HTTP/1.1\r\nHost: a\r\n\r\n"), "refused 414");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nB: 1\r\nC: 1\r\n\r\n"),
            "GET / 1.1 keep [Host|a] [B|1] [C|1] {}\n");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n"), "refused 431");
  const std::string fits(60 - 16 - 9 - 7, 'x');
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + fits + "\r\n\r\n"),
            "GET / 1.1 keep [Host|a] [X|" + fits + "] {}\n");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + fits + "y\r\n\r\n"), "refused 431");
  EXPECT_EQ(status_of(std::string(200, '\n')), "refused 431");
}

TEST(HttpParser, EndlessFramingOfChunksIsRefused) {
  const std::string head = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto refused = [&](const std::string& body) {
    return read(head + body).ends_with("refused 400");
  };
  EXPECT_TRUE(refused("1;" + std::string(5000, 'x') + "\r\nx\r\n"));
  EXPECT_TRUE(refused("1;a=\"" + std::string(5000, 'x') + "\"\r\nx\r\n"));
  EXPECT_TRUE(refused(std::string(5000, '0') + "1\r\nx\r\n0\r\n\r\n"));
  std::string many;
  for (int i = 0; i < 500; ++i) many += "1;some=thing1234\r\nx\r\n";
  EXPECT_TRUE(refused(many));
  std::string plain;
  for (int i = 0; i < 5000; ++i) plain += "1\r\nx\r\n";
  EXPECT_TRUE(read(head + plain + "0\r\n\r\n").ends_with("}\n"));
  std::string trailers;
  for (int i = 0; i < 101; ++i) trailers += "a: b\r\n";
  EXPECT_TRUE(read(head + "0\r\n" + trailers + "\r\n").ends_with("refused 431"));
}

}  // namespace
}  // namespace rouse::http
