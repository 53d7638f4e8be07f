#include "rouse/http/headers.hpp"

#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "rouse/http/error.hpp"

namespace rouse::http {
namespace {

std::string all(const Headers& headers) {
  std::string text;
  for (const auto& [name, value] : headers) {
    text += std::string(name) + "=" + std::string(value) + ";";
  }
  return text;
}

TEST(HttpHeaders, FieldsKeepTheirOrderAndAreFoundWithoutRegardToCase) {
  Headers headers;
  headers.add("Accept", "a");
  headers.add("X-Other", "1");
  headers.add("ACCEPT", "b");
  EXPECT_EQ(all(headers), "Accept=a;X-Other=1;ACCEPT=b;");
  EXPECT_EQ(headers.get("accept"), "a");
  EXPECT_EQ(headers.count("accepT"), 2U);
  EXPECT_FALSE(headers.get("none"));
  headers.set("accept", " c\t");
  EXPECT_EQ(all(headers), "X-Other=1;accept=c;");
  EXPECT_TRUE(headers.remove("x-oTHER"));
  EXPECT_FALSE(headers.remove("x-other"));
  EXPECT_EQ(headers.size(), 1U);
  headers.clear();
  EXPECT_TRUE(headers.empty());
}

TEST(HttpHeaders, WhatWouldBecomeAnotherFieldIsRefusedWhereItIsSet) {
  Headers headers;
  const auto error_of = [&](std::string_view name, std::string_view value) {
    try {
      headers.set(name, value);
    } catch (const std::system_error& error) {
      return error.code();
    }
    return std::error_code();
  };
  using namespace std::string_view_literals;
  for (const std::string_view value :
       {"a\r\nSet-Cookie: x"sv, "a\nb"sv, "a\rb"sv, "a\0b"sv, "\x7f"sv, "a\x01"sv}) {
    EXPECT_EQ(error_of("X", value), Error::bad_header_value);
  }
  for (const std::string_view name : {""sv, "a b"sv, "a:"sv, "a\r\n"sv, "\xe4"sv}) {
    EXPECT_EQ(error_of(name, "x"), Error::bad_header_name);
  }
  EXPECT_TRUE(headers.empty());
  EXPECT_FALSE(error_of("X", "t\xc3\xa4glich\tok"));
}

TEST(HttpHeaders, AMessageSaysWhichFieldAndWhere) {
  Headers headers;
  try {
    headers.set("Location", "/a\nb");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("Location, byte 2"), std::string::npos)
        << error.what();
  }
}

TEST(HttpHeaders, AValueMayBeThatOfAnotherField) {
  Headers headers;
  headers.add("A", "a value that is longer than what a string keeps in itself");
  headers.add("B", *headers.get("A"));
  headers.set("A", *headers.get("B"));
  EXPECT_EQ(headers.get("A"), headers.get("B"));
}

TEST(HttpHeaders, TokensOfAListAreFoundInAllFields) {
  Headers headers;
  headers.add("Connection", "foo ,Close");
  headers.add("Connection", "bar");
  EXPECT_TRUE(headers.has_token("connection", "close"));
  EXPECT_TRUE(headers.has_token("connection", "BAR"));
  EXPECT_FALSE(headers.has_token("connection", "clos"));
}

}  // namespace
}  // namespace rouse::http
