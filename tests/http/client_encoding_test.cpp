// Bodies that come encoded. The encoded bytes were made with gzip, python's zlib, brotli and zstd.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <zlib.h>

#include <gtest/gtest.h>

#include "http/client_support.hpp"
#include "http/decoder.hpp"

namespace rouse::http {
namespace {

constexpr int gzip_window = 31;
constexpr int zlib_window = 15;
constexpr int raw_window = -15;

std::string deflated(std::string_view text, int window) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string encoded(std::string_view name, std::string_view bytes) {
  return "HTTP/1.1 200 OK\r\nContent-Encoding: " + std::string(name) +
         "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + std::string(bytes);
}

/// What a client makes of it; and that the connection is used again.
std::string decoded_by_client(std::string answer) {
  return run_paused([&]() -> Async<std::string> {
    Script script(Script::answering({answer}));
    const Client client = script.client();
    std::string outcome = co_await outcome_of(client.get("http://h/"));
    if (outcome.starts_with("200 ")) {
      EXPECT_EQ(client.metrics().idle, 1U) << outcome.substr(0, 100);
    }
    co_return outcome;
  });
}

const std::string some_text = [] {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * i) + ' ';
  return text;
}();
const std::string bad = "rouse.http.client: the body is not what its Content-Encoding says";

TEST(HttpClientEncoding, GzipAndDeflateAreUndone) {
  const std::string expected = "200 " + some_text;
  EXPECT_TRUE(decoded_by_client(encoded("gzip", deflated(some_text, gzip_window))) == expected);
  EXPECT_TRUE(decoded_by_client(encoded("X-GZip", deflated(some_text, gzip_window))) == expected);
  EXPECT_TRUE(decoded_by_client(encoded("deflate", deflated(some_text, zlib_window))) == expected);
  EXPECT_TRUE(decoded_by_client(encoded("deflate", deflated(some_text, raw_window))) == expected);
  EXPECT_EQ(decoded_by_client(encoded("gzip", deflated("", gzip_window))), "200 ");
  EXPECT_EQ(decoded_by_client(encoded("gzip", "")), "200 ");
}

TEST(HttpClientEncoding, AFileOfSeveralMembersIsUndoneWhole) {
  EXPECT_EQ(decoded_by_client(
                encoded("gzip", deflated("one, ", gzip_window) + deflated("two", gzip_window))),
            "200 one, two");
}

TEST(HttpClientEncoding, BrotliAndZstdAreUndoneWhereTheirLibrariesAre) {
  const std::string_view brotli("\x0b\x02\x80hello\x03", 9);
  const std::string_view zstd("\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello", 14);
  if (make_brotli_decoder()) {
    EXPECT_EQ(decoded_by_client(encoded("br", brotli)), "200 hello");
  }
  if (make_zstd_decoder()) {
    EXPECT_EQ(decoded_by_client(encoded("zstd", zstd)), "200 hello");
  }
}

TEST(HttpClientEncoding, WhatIsNotWhatItSaysIsAnError) {
  const std::string gzip = deflated("hello, hello", gzip_window);
  for (std::size_t size = 1; size < gzip.size(); ++size) {
    EXPECT_EQ(decoded_by_client(encoded("gzip", gzip.substr(0, size))), bad) << size;
  }
  EXPECT_EQ(decoded_by_client(encoded("gzip", "not gzip")), bad);
  EXPECT_EQ(decoded_by_client(encoded("gzip", gzip + "behind it")), bad);
  EXPECT_EQ(decoded_by_client(encoded("deflate", "\xff\xff")), bad);
}

TEST(HttpClientEncoding, ASmallBodyThatBecomesALargeOneHasABound) {
  const std::string bomb = deflated(std::string(20'000'000, 'x'), gzip_window);
  EXPECT_LT(bomb.size(), 30'000U);
  EXPECT_EQ(decoded_by_client(encoded("gzip", bomb)),
            "rouse.io: longer than the limit that was set for it");
}

TEST(HttpClientEncoding, HeadersSayItNoMore) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering(
        {encoded("gzip", deflated("hello", gzip_window)), encoded("compress", "hello")}));
    const Client client = script.client();
    auto reply = co_await client.get("http://h/").send();
    EXPECT_FALSE(reply.header("Content-Encoding"));
    EXPECT_FALSE(reply.header("Content-Length"));
    EXPECT_FALSE(reply.length());
    EXPECT_EQ(co_await reply.text(), "hello");
    auto unknown = co_await client.get("http://h/").send();
    EXPECT_EQ(unknown.header("Content-Encoding"), "compress");
    EXPECT_EQ(co_await unknown.text(), "hello") << "as it came";
  });
}

TEST(HttpClientEncoding, MayBeSwitchedOff) {
  run_paused([]() -> Async<void> {
    const std::string gzip = deflated("hello", gzip_window);
    Script script(Script::answering({encoded("gzip", gzip)}));
    const Client client = script.builder().no_decoding().build();
    auto reply = co_await client.get("http://h/").send();
    EXPECT_EQ(reply.header("Content-Encoding"), "gzip");
    EXPECT_EQ(co_await reply.text(), gzip);
    EXPECT_EQ(script->requests.at(0).find("Accept-Encoding"), std::string::npos);
  });
}

TEST(HttpClientEncoding, ASlowBodyIsDecodedAsItComes) {
  run_paused([]() -> Async<void> {
    const std::string gzip = deflated(some_text, gzip_window);
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      (void)co_await read_request(end);
      co_await end.write_all("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
      for (std::size_t at = 0; at < gzip.size(); at += 1000) {
        co_await end.write_all(std::string_view(gzip).substr(at, 1000));
        co_await sleep(10ms);
      }
    });
    const Client client = script.client();
    auto reply = co_await client.get("http://h/").send();
    std::string text;
    std::array<char, 77> buf{};
    while (const std::size_t n = co_await reply.read(buf)) text.append(buf.data(), n);
    EXPECT_TRUE(text == some_text);
  });
}

}  // namespace
}  // namespace rouse::http
