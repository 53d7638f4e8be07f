#include "rouse/http/router.hpp"

#include <string>

#include <gtest/gtest.h>

#include "http/support.hpp"

namespace rouse::http {
namespace {

Handler tell(std::string what) {
  return [what](Request&) -> Async<Response> { co_return Response::text(what); };
}

/// The status, and the body.
std::string said(const Router& routes, const std::string& request) {
  const std::string text = answers(request + " HTTP/1.1\r\nHost: a\r\n\r\n", routes);
  return text.substr(9, 3) + " " + text.substr(text.find("\r\n\r\n") + 4);
}

TEST(HttpRouter, WordsGoBeforeParametersAndThoseBeforeTheRest) {
  Router routes;
  routes.get("/{rest...}", tell("rest"));
  routes.get("/users/{id}", [](Request& request) -> Async<Response> {
    co_return Response::text("user " + request.path_parameter("id"));
  });
  routes.get("/users/me", tell("me"));
  routes.get("/users/{id}/posts/{post}", [](Request& request) -> Async<Response> {
    co_return Response::text(request.path_parameter("post") + " of " +
                             request.path_parameter("id"));
  });
  routes.get("/", tell("root"));
  routes.get("/files/{where...}", [](Request& request) -> Async<Response> {
    co_return Response::text("[" + request.path_parameter("where") + "]");
  });
  EXPECT_EQ(said(routes, "GET /"), "200 root");
  EXPECT_EQ(said(routes, "GET /users/me"), "200 me");
  EXPECT_EQ(said(routes, "GET /users/you?x=1"), "200 user you");
  EXPECT_EQ(said(routes, "GET /users/1/posts/2"), "200 2 of 1");
  EXPECT_EQ(said(routes, "GET /users/me/posts/2"), "200 2 of me");
  EXPECT_EQ(said(routes, "GET /users/"), "200 rest");
  EXPECT_EQ(said(routes, "GET /users/1/posts"), "200 rest");
  EXPECT_EQ(said(routes, "GET /files/a/b.txt"), "200 [a/b.txt]");
  EXPECT_EQ(said(routes, "GET /files/"), "200 []");
  EXPECT_EQ(said(routes, "GET http://a/users/me"), "200 me");
}

TEST(HttpRouter, APathIsDecodedOnce) {
  Router routes;
  routes.get("/a b/{x}", [](Request& request) -> Async<Response> {
    co_return Response::text(request.path_parameter("x") + "|" + request.path());
  });
  EXPECT_EQ(said(routes, "GET /a%20b/c%2Fd"), "200 c/d|/a b/c/d");
  EXPECT_EQ(said(routes, "GET /%61%20b/%2541"), "200 %41|/a b/%41");
  for (const std::string path :
       {"/a/../b", "/..", "/a/%2e%2E/b", "/a%2f..%2fb", "/.", "/a%00", "/a%0", "/a%zz", "/a/%2E"}) {
    EXPECT_EQ(said(routes, "GET " + path).substr(0, 3), "400") << path;
  }
  EXPECT_EQ(said(routes, "GET /..a/...").substr(0, 3), "404");
}

TEST(HttpRouter, WhichMethodsAPathHasIsSaid) {
  Router routes;
  routes.get("/x", tell("got"));
  routes.post("/x", tell("posted"));
  routes.delete_("/x/{id}", tell("deleted"));
  routes.any("/any", tell("any"));
  EXPECT_EQ(said(routes, "POST /x"), "200 posted");
  EXPECT_EQ(said(routes, "HEAD /x"), "200 ");
  EXPECT_EQ(said(routes, "PATCH /any"), "200 any");
  EXPECT_EQ(said(routes, "GET /none").substr(0, 3), "404");
  const std::string put = answers("PUT /x HTTP/1.1\r\nHost: a\r\n\r\n", routes);
  EXPECT_TRUE(put.starts_with("HTTP/1.1 405 ")) << put;
  EXPECT_NE(put.find("Allow: GET, HEAD, POST, OPTIONS\r\n"), std::string::npos) << put;
  EXPECT_EQ(answers("OPTIONS /x/1 HTTP/1.1\r\nHost: a\r\n\r\n", routes),
            "HTTP/1.1 204 No Content\r\nAllow: DELETE, OPTIONS\r\n\r\n");
  EXPECT_EQ(said(routes, "OPTIONS *").substr(0, 3), "204");
  EXPECT_EQ(said(routes, "CONNECT a:80").substr(0, 3), "404");
}

TEST(HttpRouter, AnotherHandlerMayAnswerTheRest) {
  Router routes;
  routes.get("/x", tell("got"));
  routes.otherwise(tell("otherwise"));
  EXPECT_EQ(said(routes, "PUT /x"), "200 otherwise");
  EXPECT_EQ(said(routes, "GET /y"), "200 otherwise");
}

TEST(HttpRouter, ParametersOfTheQueryAreDecoded) {
  const auto query = [](Request& request) -> Async<Response> {
    co_return Response::text(request.query_parameter("q").value_or("none") + "|" +
                             std::string(request.query()));
  };
  EXPECT_EQ(said(query, "GET /?a=1&q=x+y%26z&q=2"), "200 x y&z|a=1&q=x+y%26z&q=2");
  EXPECT_EQ(said(query, "GET /?q"), "200 |q");
  EXPECT_EQ(said(query, "GET /?qq=1"), "200 none|qq=1");
}

using HttpRouterDeathTest = ::testing::Test;

TEST(HttpRouterDeathTest, APathThatIsNoPatternIsAMistake) {
  Router routes;
  routes.get("/a/{b}", tell(""));
  EXPECT_DEATH(routes.get("/a/{c}", tell("")), "same method and path");
  EXPECT_DEATH(routes.get("a", tell("")), "begins with '/'");
  EXPECT_DEATH(routes.get("/x{y}", tell("")), "all between two");
  EXPECT_DEATH(routes.get("/{x...}/y", tell("")), "nothing comes behind");
}

}  // namespace
}  // namespace rouse::http
