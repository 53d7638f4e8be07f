// nginx, asked in HTTP/1.1 over a TcpStream.
#include "counterparts/nginx.hpp"

#include <map>
#include <string>

namespace rouse::test {
namespace {

struct Answer {
  std::string status;
  std::map<std::string, std::string> headers;
  std::string body;
};

/// Asks for a file over a connection that stays open.
Async<Answer> get(Client& client, std::string path) {
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  co_await client.stream.write_all(request);
  Answer answer;
  answer.status = co_await client.line();
  for (;;) {
    const std::string header = co_await client.line();
    if (header.empty()) break;
    const std::size_t colon = header.find(": ");
    if (colon == std::string::npos) throw std::runtime_error("not a header: " + header);
    answer.headers[header.substr(0, colon)] = header.substr(colon + 2);
  }
  answer.body = co_await client.bytes(std::stoul(answer.headers["Content-Length"]));
  co_return answer;
}

class Nginx : public WithNginx {};

TEST_F(Nginx, GivesTwoFilesOverOneConnection) {
  serve_file("hello.txt", "hello\n");
  serve_file("bye.txt", "bye, and thanks\n");
  auto fetch = [this]() -> Async<void> {
    Client client(co_await net::TcpStream::connect(nginx_address()));
    const Answer hello = co_await get(client, "/hello.txt");
    EXPECT_EQ(hello.status, "HTTP/1.1 200 OK");
    EXPECT_EQ(hello.body, "hello\n");
    EXPECT_EQ(hello.headers.at("Connection"), "keep-alive");
    const Answer bye = co_await get(client, "/bye.txt");
    EXPECT_EQ(bye.headers.at("Content-Length"), "16");
    EXPECT_EQ(bye.body, "bye, and thanks\n");
    const Answer missing = co_await get(client, "/missing.txt");
    EXPECT_EQ(missing.status, "HTTP/1.1 404 Not Found");
  };
  run(fetch());
}

TEST_F(Nginx, GivesTenMegabytesAsTheyAre) {
  const std::string content = noise(10 << 20);
  serve_file("large.bin", content);
  auto fetch = [this]() -> Async<Answer> {
    Client client(co_await net::TcpStream::connect(nginx_address()));
    co_return co_await get(client, "/large.bin");
  };
  const Answer answer = run(fetch());
  EXPECT_EQ(answer.status, "HTTP/1.1 200 OK");
  EXPECT_TRUE(answer.body == content);
}

TEST_F(Nginx, EndsTheStreamAfterAnAnswerThatIsToBeTheLast) {
  serve_file("hello.txt", "hello\n");
  auto fetch = [this]() -> Async<std::string> {
    auto stream = co_await net::TcpStream::connect(nginx_address());
    co_await stream.write_all("GET /hello.txt HTTP/1.0\r\n\r\n");
    co_return co_await stream.read_to_string();
  };
  EXPECT_TRUE(run(fetch()).ends_with("\r\n\r\nhello\n"));
}

}  // namespace
}  // namespace rouse::test
