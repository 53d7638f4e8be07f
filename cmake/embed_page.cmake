# Run with `cmake -D page=... -D out=... -P`: writes a source file that has the page in it, and the
# hashes of its script and its style, which are all that a browser is to run of it.
cmake_minimum_required(VERSION 3.25)

# The base64 of a string of hexadecimal digits.
function(base64_of_hex hex result)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  string(LENGTH "${hex}" digits)
  math(EXPR last "${digits} - 1")
  foreach(at RANGE 0 ${last} 6) # three bytes, four characters
    string(SUBSTRING "${hex}" ${at} 6 part)
    string(LENGTH "${part}" size)
    string(SUBSTRING "${part}00000" 0 6 part)
    math(EXPR characters "${size} * 4 / 6 + 1")
    if(size EQUAL 6)
      set(characters 4)
    endif()
    foreach(i RANGE 1 4)
      if(i GREATER characters)
        string(APPEND text "=")
      else()
        math(EXPR index "(0x${part} >> (24 - 6 * ${i})) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 character)
        string(APPEND text "${character}")
      endif()
    endforeach()
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The hash of what is between <tag> and </tag>.
function(hash_of tag result)
  string(FIND "${text}" "<${tag}>" begin)
  string(FIND "${text}" "</${tag}>" end)
  if(begin EQUAL -1 OR end EQUAL -1)
    message(FATAL_ERROR "${page} has no <${tag}>")
  endif()
  string(LENGTH "<${tag}>" size)
  math(EXPR begin "${begin} + ${size}")
  math(EXPR size "${end} - ${begin}")
  string(SUBSTRING "${text}" ${begin} ${size} inside)
  string(SHA256 hash "${inside}")
  base64_of_hex("${hash}" hash)
  set(${result} "'sha256-${hash}'" PARENT_SCOPE)
endfunction()

file(READ "${page}" text)
hash_of(script script)
hash_of(style style)
file(READ "${page}" bytes HEX)
string(LENGTH "${bytes}" size)
math(EXPR size "${size} / 2")
if(size GREATER 61440)
  message(FATAL_ERROR "${page} has ${size} bytes; it is to have less than 60 KiB")
endif()
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
                     "\\1\n" bytes "${bytes}")
file(
  WRITE "${out}"
  "// Made by cmake/embed_page.cmake.
#include \"sight/page.hpp\"

namespace rouse::sight {
namespace {
constexpr unsigned char bytes[] = {
${bytes}};
}  // namespace

std::string_view page() noexcept {
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}
std::string_view page_policy() noexcept {
  return \"default-src 'none'; script-src ${script}; style-src ${style}; connect-src 'self'; \"
         \"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\";
}

}  // namespace rouse::sight
")
