# llhttp, the HTTP/1.1 parser of Node, version 9.3 or newer. Older ones let requests be
# smuggled past what stands before us. Debian has no new enough one, so its C sources are taken out of
# an archive that ROUSE_LLHTTP_SOURCE names and a hash pins (tools/llhttp fetches it); without that,
# an installed llhttp is used if it is new enough. Included by the top: a language must be enabled there.
set(ROUSE_LLHTTP_SOURCE "" CACHE FILEPATH "httptools-0.9.0.tar.gz, as tools/llhttp gives it; empty: an installed llhttp")
set(rouse_llhttp_hash d484ebb7e3a3f3597b0f645fbd1b85633674ca808c1f5ba11c2caf7c66f5c8b6)
set(rouse_llhttp_folder httptools-0.9.0/vendor/llhttp)

# Compiles the sources in `from`, with names of our own: a program may have an llhttp of its own, of
# another version.
function(rouse_build_llhttp from)
  set(names)
  foreach(file include/llhttp.h src/api.c src/http.c src/llhttp.c)
    file(READ ${from}/${file} text)
    string(REGEX MATCHALL "llhttp_[a-z0-9_]+ ?\\(" found "${text}")
    list(APPEND names ${found})
  endforeach()
  list(TRANSFORM names REPLACE " ?\\($" "")
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  list(TRANSFORM names REPLACE "(.+)" "#define \\1 rouse_\\1" OUTPUT_VARIABLE renames)
  list(JOIN renames "\n" renames)
  set(own_names ${from}/include/llhttp_own_names.h) # src/http/llhttp.hpp includes it
  file(CONFIGURE OUTPUT ${own_names} CONTENT "${renames}\n" @ONLY)

  add_library(rouse_llhttp_objects OBJECT ${from}/src/api.c ${from}/src/http.c ${from}/src/llhttp.c)
  target_include_directories(rouse_llhttp_objects PRIVATE ${from}/include)
  # It is never stepped through, and slow without optimisation.
  target_compile_options(rouse_llhttp_objects PRIVATE -include ${own_names} -w -O2)
  if(CMAKE_C_COMPILER_ID STREQUAL CMAKE_CXX_COMPILER_ID)
    target_compile_options(rouse_llhttp_objects PRIVATE $<BUILD_INTERFACE:${rouse_sanitizers}>)
  endif()
  set_target_properties(
    rouse_llhttp_objects
    PROPERTIES POSITION_INDEPENDENT_CODE ON
               C_VISIBILITY_PRESET hidden
               UNITY_BUILD OFF
               C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")

  add_library(rouse_llhttp INTERFACE)
  target_include_directories(rouse_llhttp SYSTEM INTERFACE ${from}/include)
endfunction()

# Sets for the library that uses it: objects that go into it, what it links, and what finds an installed llhttp
# for those who link our library.
set(rouse_llhttp_sources)
set(rouse_llhttp_links)
set(rouse_llhttp_finds)
set(rouse_llhttp_modules)
if(ROUSE_LLHTTP_SOURCE)
  if(NOT EXISTS ${ROUSE_LLHTTP_SOURCE})
    message(FATAL_ERROR "ROUSE_LLHTTP_SOURCE names ${ROUSE_LLHTTP_SOURCE}, which does not exist. "
                        "tools/llhttp fetches it and prints where it is.")
  endif()
  file(SHA256 ${ROUSE_LLHTTP_SOURCE} found_hash)
  if(NOT found_hash STREQUAL rouse_llhttp_hash)
    message(FATAL_ERROR "${ROUSE_LLHTTP_SOURCE} is not the archive that rouse knows: its SHA-256 is "
                        "${found_hash}, not ${rouse_llhttp_hash}. Remove it and run tools/llhttp.")
  endif()
  set(unpacked ${PROJECT_BINARY_DIR}/llhttp)
  if(NOT EXISTS ${unpacked}/${rouse_llhttp_folder}/src/llhttp.c)
    file(ARCHIVE_EXTRACT INPUT ${ROUSE_LLHTTP_SOURCE} DESTINATION ${unpacked} PATTERNS ${rouse_llhttp_folder})
  endif()
  # The C compiler that belongs to the C++ compiler: it knows the same sanitizers.
  if(NOT CMAKE_C_COMPILER AND NOT DEFINED ENV{CC})
    string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" c_compiler ${CMAKE_CXX_COMPILER})
    string(REGEX REPLACE "g\\+\\+([^/]*)$" "gcc\\1" c_compiler ${c_compiler})
    if(EXISTS ${c_compiler})
      set(CMAKE_C_COMPILER ${c_compiler})
    endif()
  endif()
  enable_language(C)
  rouse_build_llhttp(${unpacked}/${rouse_llhttp_folder})
  set(rouse_llhttp_sources $<TARGET_OBJECTS:rouse_llhttp_objects>)
  set(rouse_llhttp_links $<BUILD_INTERFACE:rouse_llhttp>)
else()
  find_package(llhttp 9.3 CONFIG QUIET)
  if(TARGET llhttp::llhttp_shared)
    set(rouse_llhttp_links llhttp::llhttp_shared)
  elseif(TARGET llhttp::llhttp_static)
    set(rouse_llhttp_links llhttp::llhttp_static)
  else()
    message(FATAL_ERROR "rouse's component 'http' needs llhttp 9.3 or newer, which is not installed (Debian has "
                        "only 8.1, which is not safe). Run tools/llhttp, which fetches its sources and prints where "
                        "they are, and configure with -DROUSE_LLHTTP_SOURCE=<that>; or leave 'http' out of "
                        "ROUSE_COMPONENTS.")
  endif()
  set(rouse_llhttp_finds "llhttp 9.3 CONFIG")
  set(rouse_llhttp_modules libllhttp)
endif()
