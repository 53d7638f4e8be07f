// Files: ranges, conditions, folders that nothing leads out of.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "http/date.hpp"
#include "http/support.hpp"

namespace rouse::http {
namespace {

class HttpFiles : public ::testing::Test {
 protected:
  HttpFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rouse-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = pattern;
    std::filesystem::create_directories(folder_ / "public/sub");
    write("public/a.txt", "0123456789");
    write("public/empty.css", "");
    write("public/big.bin", std::string(200'000, 'b'));
    write("public/sub/index.html", "<p>");
    write("secret.txt", "secret");
    write("public-not/x.txt", "secret");
  }
  ~HttpFiles() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  /// Not paused: files are read on other threads.
  [[nodiscard]] std::string get(const std::string& target, const std::string& fields = {},
                                const std::string& method = "GET") const {
    Router routes;
    routes.get("/{rest...}", static_files(path("public")));
    Runtime rt = Runtime::builder().current_thread().build();
    const std::string request =
        method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "Connection: close\r\n\r\n";
    return rt.block_on(answers_to(request, routes));
  }
  static std::string status(const std::string& text) { return text.substr(9, 3); }
  static std::string body(const std::string& text) {
    return text.substr(std::min(text.find("\r\n\r\n") + 4, text.size()));
  }
  static std::string field(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "none";
    const std::size_t begin = at + name.size() + 4;
    return text.substr(begin, text.find("\r\n", begin) - begin);
  }

  std::filesystem::path folder_;
};

TEST_F(HttpFiles, AFileComesWithItsTypeItsLengthAndItsAge) {
  const std::string text = get("/a.txt");
  EXPECT_EQ(status(text), "200");
  EXPECT_EQ(body(text), "0123456789");
  EXPECT_EQ(field(text, "Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(field(text, "Content-Length"), "10");
  EXPECT_EQ(field(text, "Accept-Ranges"), "bytes");
  EXPECT_TRUE(parse_date(field(text, "Last-Modified")));
  EXPECT_EQ(body(get("/big.bin")), std::string(200'000, 'b'));
  EXPECT_EQ(body(get("/empty.css")), "");
  EXPECT_EQ(body(get("/sub/")), "<p>");
  EXPECT_EQ(body(get("/sub")), "<p>");
  const std::string head = get("/a.txt", "", "HEAD");
  EXPECT_EQ(field(head, "Content-Length"), "10");
  EXPECT_EQ(body(head), "");
}

TEST_F(HttpFiles, NothingLeadsOutOfTheFolder) {
  std::filesystem::create_symlink(path("secret.txt"), path("public/link.txt"));
  std::filesystem::create_directory_symlink(folder_, path("public/up"));
  std::filesystem::create_symlink(path("public/a.txt"), path("public/inside.txt"));
  for (const std::string target :
       {"/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/sub/../../secret.txt",
        "/link.txt", "/up/secret.txt", "/a.txt%00", "/none", "/a.txt/x", "/../public-not/x.txt",
        "//etc/passwd", "/%2fetc/passwd", "/", "/up"}) {
    const std::string text = get(target);
    EXPECT_TRUE(status(text) == "404" || status(text) == "400") << target << ": " << text;
    EXPECT_EQ(text.find("secret"), std::string::npos) << target;
  }
  EXPECT_EQ(body(get("/inside.txt")), "0123456789");
}

TEST_F(HttpFiles, WhatBeginsWithADotIsNotFound) {
  for (const std::string name : {".env", ".git/config", "sub/.htpasswd", "sub/.git/objects/a"}) {
    write("public/" + name, "secret");
    EXPECT_EQ(status(get("/" + name)), "404") << name;
  }
  EXPECT_EQ(status(get("/%2egit/config")), "404");
  EXPECT_EQ(status(get("//.git/config")), "404");
  EXPECT_EQ(status(get("/.git%2fconfig")), "404");
  write("public/.well-known/security.txt", "Contact: us");
  write("public/.well-known/.env", "secret");
  write("public/a.b/c.d", "e");
  EXPECT_EQ(body(get("/.well-known/security.txt")), "Contact: us");
  EXPECT_EQ(status(get("/.well-known/.env")), "404");
  EXPECT_EQ(body(get("/a.b/c.d")), "e");
  // A link is its owner's word: what is mounted in a container is often behind one.
  std::filesystem::create_directory_symlink(path("public/.git"), path("public/history"));
  EXPECT_EQ(body(get("/history/config")), "secret");
}

TEST_F(HttpFiles, WhatIsNoRegularFileIsNotFound) {
  ASSERT_EQ(::mkfifo(path("public/fifo").c_str(), 0600), 0);
  EXPECT_EQ(status(get("/fifo")), "404");
}

TEST_F(HttpFiles, APartOfAFileIsSentAlone) {
  const auto range = [&](const std::string& wanted) {
    const std::string text = get("/a.txt", "Range: " + wanted + "\r\n");
    return status(text) + " " + field(text, "Content-Range") + " " + body(text);
  };
  EXPECT_EQ(range("bytes=0-3"), "206 bytes 0-3/10 0123");
  EXPECT_EQ(range("bytes=4-"), "206 bytes 4-9/10 456789");
  EXPECT_EQ(range("bytes=-3"), "206 bytes 7-9/10 789");
  EXPECT_EQ(range("bytes=-30"), "206 bytes 0-9/10 0123456789");
  EXPECT_EQ(range("bytes=8-99"), "206 bytes 8-9/10 89");
  EXPECT_EQ(range("bytes=10-"), "416 bytes */10 ");
  EXPECT_EQ(range("bytes=-0"), "416 bytes */10 ");
  for (const std::string odd : {"bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "lines=0-1",
                                "bytes=0-1,3-4", "bytes=99999999999999999999-"}) {
    EXPECT_EQ(range(odd), "200 none 0123456789") << odd;
  }
}

TEST_F(HttpFiles, ARangeIsOnlyOfTheCopyThatThePeerHas) {
  const std::string tag = field(get("/a.txt"), "ETag");
  const std::string date = field(get("/a.txt"), "Last-Modified");
  const auto with = [&](const std::string& condition) {
    return status(get("/a.txt", "Range: bytes=0-1\r\nIf-Range: " + condition + "\r\n"));
  };
  EXPECT_EQ(with(tag), "206");
  EXPECT_EQ(with(date), "206");
  EXPECT_EQ(with("\"other\""), "200");
  EXPECT_EQ(with("Sun, 06 Nov 1994 08:49:37 GMT"), "200");
}

TEST_F(HttpFiles, WhoHasItAlreadyGetsNoMoreThanThat) {
  const std::string text = get("/a.txt");
  const auto with = [&](const std::string& fields) {
    const std::string answer = get("/a.txt", fields);
    return status(answer) + " " + body(answer);
  };
  const std::string tag = field(text, "ETag");
  EXPECT_EQ(with("If-None-Match: " + tag + "\r\n"), "304 ");
  EXPECT_EQ(with("If-None-Match: \"x\", W/" + tag + "\r\n"), "304 ");
  EXPECT_EQ(with("If-None-Match: *\r\n"), "304 ");
  EXPECT_EQ(with("If-None-Match: \"x\"\r\n"), "200 0123456789");
  EXPECT_EQ(with("If-Modified-Since: " + field(text, "Last-Modified") + "\r\n"), "304 ");
  EXPECT_EQ(with("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), "200 0123456789");
  EXPECT_EQ(with("If-Modified-Since: yesterday\r\n"), "200 0123456789");
}

TEST(HttpDate, IsWrittenAndRead) {
  EXPECT_EQ(format_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
  EXPECT_EQ(format_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  for (const std::string_view odd :
       {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC"}) {
    EXPECT_FALSE(parse_date(odd)) << odd;
  }
}

}  // namespace
}  // namespace rouse::http
