# Puts tools/sight/page.html into the library. By CMake alone: no other tool is needed, also to build
# for another machine.
set(page ${PROJECT_SOURCE_DIR}/tools/sight/page.html)
set(page_source ${CMAKE_CURRENT_BINARY_DIR}/sight_page.cpp)
set(embed_page ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake)
add_custom_command(
  OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -D page=${page} -D out=${page_source} -P ${embed_page}
  DEPENDS ${page} ${embed_page}
  VERBATIM)
target_sources(rouse PRIVATE ${page_source})
# The model compiles the library's sources, too, and knows no rule that makes this one.
add_custom_target(rouse_sight_page DEPENDS ${page_source})
add_dependencies(rouse rouse_sight_page)
