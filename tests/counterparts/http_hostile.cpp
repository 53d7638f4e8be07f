#include "counterparts/http_hostile.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace rouse::test {
namespace {

using namespace std::string_literals;
using Cases = std::vector<Hostile>;

const std::string crlf = "\r\n";
const std::string host = "Host: a\r\n";
const std::string get = "GET /c000 HTTP/1.1\r\n" + host;
const std::string post = "POST /c000 HTTP/1.1\r\n" + host;
const std::string chunked = "Transfer-Encoding: chunked\r\n";
const std::string smuggled = "GET /s000 HTTP/1.1\r\n" + host + crlf;
const std::string last_chunk = "0\r\n\r\n";

std::string length_of(std::string_view body) {
  return "Content-Length: " + std::to_string(body.size()) + crlf;
}
std::string hex(std::size_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (; number != 0; number /= 16) text.insert(text.begin(), digits[number % 16]);
  return text;
}
std::string chunk(const std::string& body) { return hex(body.size()) + crlf + body + crlf; }

/// A length and a coding: who goes by the one sees a request where the other sees a body.
void add_lengths_with_codings(Cases& cases) {
  const std::string by_coding = last_chunk + smuggled;
  const std::string by_length = chunk(smuggled) + last_chunk;
  const std::string of_size_line = "Content-Length: 4\r\n";
  cases.push_back({"CL.TE", post + length_of(by_coding) + chunked + crlf + by_coding, ""});
  cases.push_back(
      {"CL.TE, coding first", post + chunked + length_of(by_coding) + crlf + by_coding, ""});
  cases.push_back({"TE.CL", post + of_size_line + chunked + crlf + by_length, ""});
  cases.push_back({"TE.CL, coding first", post + chunked + of_size_line + crlf + by_length, ""});
  cases.push_back({"TE.0", post + chunked + "Content-Length: 0\r\n\r\n" + by_length, ""});
  cases.push_back({"CL.TE in 1.0",
                   "POST /c000 HTTP/1.0\r\n" + host + "Connection: keep-alive\r\n" + chunked +
                       length_of(by_coding) + crlf + by_coding,
                   ""});
  cases.push_back(
      {"a coding in 1.0",
       "POST /c000 HTTP/1.0\r\n" + host + "Connection: keep-alive\r\n" + chunked + crlf + by_coding,
       ""});
}

/// Codings that one takes for chunked and another does not.
void add_codings(Cases& cases) {
  const std::string by_coding = last_chunk + smuggled;
  const std::vector<std::string> fields = {
      "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding: identity, chunked\r\n",
      "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: chunked, chunked\r\n",
      "Transfer-Encoding: ,chunked\r\n",
      "Transfer-Encoding: chunked,\r\n",
      "Transfer-Encoding: chunked;q=1\r\n",
      "Transfer-Encoding: \"chunked\"\r\n",
      "Transfer-Encoding: 'chunked'\r\n",
      "Transfer-Encoding: chunked chunked\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: chunkedx\r\n",
      "Transfer-Encoding: chunk\r\n",
      "Transfer-Encoding: \r\n",
      "Transfer-Encoding: chunked\t\r\n",
      "Transfer-Encoding: \vchunked\r\n",
      "Transfer-Encoding: chunked\v\r\n",
      "Transfer-Encoding: \xa0"
      "chunked\r\n",
      "Transfer-Encoding: chunked\0\r\n"s,
      "Transfer-Encoding: \0chunked\r\n"s,
      "Transfer-Encoding: chunked\rX: y\r\n",
      "Transfer-Encoding:\r\n chunked\r\n",
      "Transfer-Encoding:\n chunked\r\n",
      "Transfer-Encoding\r\n : chunked\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding\t: chunked\r\n",
      "Transfer-Encoding\v: chunked\r\n",
      "Transfer-Encoding\0: chunked\r\n"s,
      "\0Transfer-Encoding: chunked\r\n"s,
      " Transfer-Encoding: chunked\r\n",
      "X: y\nTransfer-Encoding: chunked\r\n",
      "X: y\rTransfer-Encoding: chunked\r\n",
      "X: y\r\r\nTransfer-Encoding: chunked\r\n",
      "X: y\r\n\rTransfer-Encoding: chunked\r\n",
      "X: y\r\n Transfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
      "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
      "Transfer-Encoding;: chunked\r\n",
      "Transfer-Encoding chunked\r\n",
  };
  for (const std::string& field : fields) {
    cases.push_back({field, post + field + crlf + by_coding, ""});
    cases.push_back(
        {field + "with a length", post + length_of(by_coding) + field + crlf + by_coding, ""});
  }
  // Names that are others are no framing.
  for (const char* name : {"Transfer_Encoding", "X-Transfer-Encoding", "Transfer-Encodin", "TE"}) {
    cases.push_back(
        {name, post + length_of(by_coding) + name + ": chunked\r\n\r\n" + by_coding, "/c000"});
  }
  for (const char* field : {"Transfer-Encoding:  chunked  \r\n", "tRANSFER-eNCODING: CHUNKED\r\n",
                            "Transfer-Encoding:chunked\r\n", "Transfer-Encoding: \tchunked\r\n"}) {
    cases.push_back({field, post + field + crlf + last_chunk + smuggled, "/c000 /s000"});
    cases.push_back(
        {field + "with a length"s, post + length_of(by_coding) + field + crlf + by_coding, ""});
  }
}

/// Lengths that one reads and another does not.
void add_lengths(Cases& cases) {
  const std::string size = std::to_string(smuggled.size());
  const std::vector<std::string> fields = {
      "Content-Length: +" + size + crlf,
      "Content-Length: -" + size + crlf,
      "Content-Length: 0x" + hex(smuggled.size()) + crlf,
      "Content-Length: " + size + "," + size + crlf,
      "Content-Length: 0," + size + crlf,
      "Content-Length: " + size + ",0\r\n",
      "Content-Length: " + size + " 0\r\n",
      "Content-Length: " + size + ".0\r\n",
      "Content-Length: " + size + "e0\r\n",
      "Content-Length: " + size + "_\r\n",
      "Content-Length: \"" + size + "\"\r\n",
      "Content-Length: " + size + ";\r\n",
      "Content-Length:\v" + size + crlf,
      "Content-Length: " + size + "\v\r\n",
      "Content-Length: " + size + "\0\r\n"s,
      "Content-Length: \r\n",
      "Content-Length: x\r\n",
      "Content-Length: 18446744073709551616\r\n",
      "Content-Length: 18446744073709551650\r\n",
      "Content-Length: 99999999999999999999999999\r\n",
      "Content-Length : " + size + crlf,
      "Content-Length\t: " + size + crlf,
      "Content-Length\0: "s + size + crlf,
      " Content-Length: " + size + crlf,
      "Content-Length:\r\n " + size + crlf,
      "X: y\r\n Content-Length: " + size + crlf,
      "X: y\nContent-Length: " + size + crlf,
      "X: y\rContent-Length: " + size + crlf,
      "Content-Length: " + size + crlf + "Content-Length: " + size + crlf,
      "Content-Length: 0\r\nContent-Length: " + size + crlf,
      "Content-Length: " + size + crlf + "Content-Length: 0\r\n",
      "Content-Length: 0\r\ncontent-length : " + size + crlf,
      "Content-Length: " + size + crlf + "Content-Length:\r\n",
  };
  for (const std::string& field : fields) {
    cases.push_back({field, post + field + crlf + smuggled, ""});
  }
  cases.push_back({"a length with zeros",
                   post + "Content-Length: 000" + size + crlf + crlf + smuggled, "/c000"});
  cases.push_back({"a length of another name",
                   post + "Content_Length: " + size + crlf + crlf + smuggled, "/c000 /s000"});
  for (const char* member :
       {"Content-Length", "Transfer-Encoding", "Host", "close, Content-Length"}) {
    cases.push_back({"Connection: "s + member,
                     post + "Connection: " + member + crlf + length_of(smuggled) + crlf + smuggled,
                     "/c000"});
    cases.push_back(
        {"chunked, Connection: "s + member,
         post + "Connection: " + member + crlf + chunked + crlf + chunk(smuggled) + last_chunk,
         "/c000"});
  }
}

/// Bodies that nobody expects, or nobody reads.
void add_bodies(Cases& cases) {
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    for (const char* target : {" /c000", " /i000"}) {
      const std::string line = method + std::string(target) + " HTTP/1.1\r\n" + host;
      cases.push_back(
          {method + " with a body"s, line + length_of(smuggled) + crlf + smuggled, target + 1});
      cases.push_back({method + " with chunks"s,
                       line + chunked + crlf + chunk(smuggled) + last_chunk, target + 1});
    }
  }
  for (const char* field :
       {"Expect: 100-continue\r\n", "expect: 100-CONTINUE\r\n", "Expect: \t100-continue \r\n"}) {
    for (const char* target : {"POST /c000", "POST /i000", "GET /c000", "GET /i000"}) {
      const std::string line = target + " HTTP/1.1\r\n"s + host;
      const std::string seen(std::string_view(target).substr(std::string_view(target).find('/')));
      cases.push_back({field, line + field + length_of(smuggled) + crlf + smuggled, seen});
      cases.push_back({field, line + field + chunked + crlf + chunk(smuggled) + last_chunk, seen});
    }
  }
  for (const char* field :
       {"Expect: y 100-continue\r\n", "Expect: 100-continue, x\r\n", "Expect: 100-continued\r\n",
        "Expect:\r\n 100-continue\r\n", "Expect:\r\n"}) {
    cases.push_back({field, post + field + length_of(smuggled) + crlf + smuggled, ""});
  }
  cases.push_back({"a length, then nothing", post + "Content-Length: 500\r\n\r\n" + smuggled, ""});
  cases.push_back({"more than its length", post + "Content-Length: 5\r\n\r\nabcdeGET", "/c000"});
}

/// Chunks whose size or end can be told in several ways.
void add_chunks(Cases& cases) {
  const std::string head = post + chunked + crlf;
  const std::vector<std::string> bodies = {
      "0x5\r\nabcde\r\n0\r\n\r\n",
      "+5\r\nabcde\r\n0\r\n\r\n",
      "-5\r\nabcde\r\n0\r\n\r\n",
      " 5\r\nabcde\r\n0\r\n\r\n",
      "5 \r\nabcde\r\n0\r\n\r\n",
      "5\t\r\nabcde\r\n0\r\n\r\n",
      "5_\r\nabcde\r\n0\r\n\r\n",
      "5g\r\nabcde\r\n0\r\n\r\n",
      "\r\nabcde\r\n0\r\n\r\n",
      ";a\r\nabcde\r\n0\r\n\r\n",
      "10000000000000005\r\nabcde\r\n0\r\n\r\n",
      "100000005\r\nabcde\r\n0\r\n\r\n",
      "fffffffffffffffe\r\nabcde\r\n0\r\n\r\n",
      "5\nabcde\r\n0\r\n\r\n",
      "5\rabcde\r\n0\r\n\r\n",
      "5\r\rabcde\r\n0\r\n\r\n",
      "5\n\nabcde\r\n0\r\n\r\n",
      "5\r\nabcde0\r\n\r\n",
      "5\r\nabcde\n0\r\n\r\n",
      "5\r\nabcdeXX0\r\n\r\n",
      "5\r\nabcdef\r\n0\r\n\r\n",
      "5\r\nabcd\r\n0\r\n\r\n",
      "5;\nabcde\r\n0\r\n\r\n",
      "5;a\nb\r\nabcde\r\n0\r\n\r\n",
      "5;a\rb\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"\n\"\r\nabcde\r\n0\r\n\r\n",
      "5;a\0b\r\nabcde\r\n0\r\n\r\n"s,
      "5;" + std::string(5000, 'a') + "\r\nabcde\r\n0\r\n\r\n",
      "5;a=" + std::string(100'000, 'a') + "\r\nabcde\r\n0\r\n\r\n",
      "0\r\n",
      "0\r\n\n",
      "0\n\n",
      "0\n\r\n",
      "0\r\n\r",
      "0;a\n\r\n",
      "0\r\nX: y\n\r\n",
      "0\r\nX : y\r\n\r\n",
      "0\r\n X: y\r\n\r\n",
      "0\r\nX: y\r\n z\r\n\r\n",
      "0\r\nX: y\rZ: z\r\n\r\n",
      "0\r\nX: \0\r\n\r\n"s,
      "0\r\nX: " + std::string(100'000, 'a') + "\r\n\r\n",
  };
  for (const std::string& body : bodies) {
    cases.push_back({"chunks: " + body.substr(0, 40), head + body + smuggled, ""});
  }
  std::string extensions;
  for (int i = 0; i < 2000; ++i) extensions += "1;aaaaaaaa\r\na\r\n";
  cases.push_back({"many chunk extensions", head + extensions + last_chunk + smuggled, ""});
  for (const char* body : {"5\r\nabcde\r\n0\r\n\r\n", "005\r\nabcde\r\n000\r\n\r\n",
                           "5;a;b=c;d=\"e;f\"\r\nabcde\r\n0;g\r\n\r\n", "0\r\nX: y\r\n\r\n",
                           "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"}) {
    cases.push_back({"good chunks: "s + body, head + body + smuggled, "/c000 /s000"});
  }
  for (const char* name : {"Host: b", "X-Proxied: x", "Connection: close"}) {
    cases.push_back(
        {"a trailer "s + name, head + "0\r\n" + name + crlf + crlf + smuggled, "/c000 /s000"});
  }
  for (const char* name : {"Content-Length: 5", "Transfer-Encoding: chunked"}) {
    cases.push_back({"a trailer "s + name, head + "0\r\n" + name + crlf + crlf + smuggled, ""});
  }
}

/// Whom a request is for, what it asks for, and where its head ends.
void add_heads(Cases& cases) {
  const std::vector<std::string> refused = {
      "GET /c000 HTTP/1.1\r\n\r\n",
      get + "Host: b\r\n\r\n",
      get + host + crlf,
      get + "Host : b\r\n\r\n",
      get + " Host: b\r\n\r\n",
      "GET /c000 HTTP/1.1\r\n Host: a\r\n\r\n",
      "GET /c000 HTTP/1.1\r\nX: y\r\n Host: a\r\n\r\n",
      "GET /c000 HTTP/1.1\r\nHost: a b\r\n\r\n",
      "GET /c000 HTTP/1.1\r\nHost: a/b\r\n\r\n",
      "GET /c000 HTTP/1.1\r\nHost: u@a\r\n\r\n",
      "GET /c000 HTTP/1.1\r\nHost: a,b\r\n\r\n",
      "GET /c000 HTTP/1.1\r\nHost: a\0b\r\n\r\n"s,
      "GET /c000 HTTP/1.1\r\nHost: a\\b\r\n\r\n",
      "GET http://b/c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http://u@a/c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http://a\\@b/c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http://a/c000 HTTP/1.0\r\nHost: b\r\n\r\n",
      "GET ?c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET \\c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /c000#x HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /c000 x HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /c000\tHTTP/1.1\r\nHost: a\r\n\r\n",
      "GET\t/c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /c000\0 HTTP/1.1\r\nHost: a\r\n\r\n"s,
      "GET /c000\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/1.1 \r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/1.1x\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/1.01\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/01.1\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/1,1\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/1.2\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/2.0\r\nHost: a\r\n\r\n",
      "GET /c000 HTTP/0.9\r\nHost: a\r\n\r\n",
      "GET /c000 HTTPS/1.1\r\nHost: a\r\n\r\n",
      "GET /c000 http/1.1\r\nHost: a\r\n\r\n",
      "GET /c000\r\nHost: a\r\n\r\n",
      "GET /c000\r\n",
      "get /c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET:/c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "G\0ET /c000 HTTP/1.1\r\nHost: a\r\n\r\n"s,
      "\0GET /c000 HTTP/1.1\r\nHost: a\r\n\r\n"s,
      " GET /c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "PROPFIND /c000 HTTP/1.1\r\nHost: a\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /c000 HTTP/1.1\nHost: a\n\n",
      get + "X: y\n\r\n",
      get + "X: y\r\n\n",
      get + "\n",
      get + "X: y\r\n\r\r\n",
      get + "X: y\r\r\n\r\n",
      get + "X: y\rZ\r\n\r\n",
      get + "X: y\0z\r\n\r\n"s,
      get + "X\0Y: z\r\n\r\n"s,
      get + "X Y: z\r\n\r\n",
      get + "X(: z\r\n\r\n",
      get + ": z\r\n\r\n",
      get + "X\r\n\r\n",
      get + "\xef\xbb\xbfX: y\r\n\r\n",
      get + "X: " + std::string(40'000, 'a') + crlf + crlf,
  };
  for (const std::string& head : refused) {
    cases.push_back({head.substr(0, 60), head + smuggled, ""});
  }
  const std::string with_length = length_of(smuggled) + crlf + smuggled;
  const std::vector<Hostile> understood = {
      {"two at once", get + crlf + smuggled, "/c000 /s000"},
      {"empty lines before", "\r\n\r\n" + get + crlf + crlf + smuggled, "/c000 /s000"},
      {"a whole URL", "GET http://a/c000 HTTP/1.1\r\n" + host + crlf + smuggled,
       "http://a/c000 /s000"},
      {"line ends in the path", "GET /c000%0d%0aX:%20y HTTP/1.1\r\n" + host + crlf + smuggled,
       "/c000%0d%0aX:%20y /s000"},
      {"a request in the query",
       "GET /c000?%20HTTP/1.1%0d%0a%0d%0aGET%20/s000 HTTP/1.1\r\n" + host + crlf,
       "/c000?%20HTTP/1.1%0d%0a%0d%0aGET%20/s000"},
      {"1.0 that stays", "GET /c000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + smuggled,
       "/c000 /s000"},
      {"1.0 that does not", "GET /c000 HTTP/1.0\r\n\r\n" + smuggled, "/c000"},
      {"close", get + "Connection: close\r\n\r\n" + smuggled, "/c000"},
      {"close among others", get + "Connection: x, close ,y\r\n\r\n" + smuggled, "/c000"},
      {"h2c",
       post +
           "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nConnection: Upgrade, "
           "HTTP2-Settings\r\n" +
           with_length,
       "/c000"},
      {"h2c with chunks",
       post + "Upgrade: h2c\r\nConnection: Upgrade\r\n" + chunked + crlf + chunk(smuggled) +
           last_chunk,
       "/c000"},
      {"a WebSocket",
       get +
           "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "
           "777\r\nSec-WebSocket-Key: x\r\n\r\n" +
           smuggled,
       "/c000 /s000"},
      {"a WebSocket with a body",
       get + "Upgrade: websocket\r\nConnection: Upgrade\r\n" + with_length, "/c000"},
      {"CONNECT", "CONNECT c000:80 HTTP/1.1\r\nHost: c000:80\r\n\r\n" + smuggled, "c000:80"},
      {"CONNECT with a body", "CONNECT c000:80 HTTP/1.1\r\nHost: c000:80\r\n" + with_length,
       "c000:80"},
      {"TRACE", "TRACE /c000 HTTP/1.1\r\n" + host + crlf + smuggled, "/c000 /s000"},
      {"another way to say the method", get + "X-HTTP-Method-Override: POST\r\n\r\n" + smuggled,
       "/c000 /s000"},
      {"another way to say the target",
       get + "X-Original-URL: /s000\r\nX-Rewrite-URL: /s000\r\n\r\n", "/c000"},
  };
  // Refused for its path, which has nothing to do with where it ends.
  for (const char* target : {"/../c000", "/x/..%2fc000", "/c000%00", "/c000%zz"}) {
    cases.push_back({target, "GET "s + target + " HTTP/1.1\r\n" + host + crlf + smuggled, "/s000"});
  }
  cases.insert(cases.end(), understood.begin(), understood.end());
}

}  // namespace

std::vector<Hostile> hostile_requests() {
  Cases cases;
  add_lengths_with_codings(cases);
  add_codings(cases);
  add_lengths(cases);
  add_bodies(cases);
  add_chunks(cases);
  add_heads(cases);
  return cases;
}

}  // namespace rouse::test
