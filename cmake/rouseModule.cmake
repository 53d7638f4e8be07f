# rouse::module, for `import rouse;`. It is compiled in the project that uses it, also when rouse is
# installed: a compiled module fits only the compiler and the flags that made it.
if(NOT TARGET rouse::module
   AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.28
   AND CMAKE_GENERATOR MATCHES Ninja
   AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
   AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 16
   AND CMAKE_CXX_COMPILER_CLANG_SCAN_DEPS) # Debian: clang-tools
  add_library(rouse_module STATIC EXCLUDE_FROM_ALL)
  add_library(rouse::module ALIAS rouse_module)
  target_sources(
    rouse_module PUBLIC FILE_SET CXX_MODULES BASE_DIRS ${rouse_include_dir} FILES
                        ${rouse_include_dir}/rouse/rouse.cppm)
  target_link_libraries(rouse_module PUBLIC rouse::rouse)
endif()
