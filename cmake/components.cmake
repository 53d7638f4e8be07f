# Components: libraries beside rouse that need more than it does. rouse_component(...) makes one, in
# src/<component>/CMakeLists.txt: the target rouse_<component>, alias rouse::<component>, its headers,
# package and .pc file.
set(rouse_known_components tls http) # in the order they build on each other
set(ROUSE_COMPONENTS "" CACHE STRING "Optional components to build: a list of ${rouse_known_components}; or all")

set(rouse_components ${ROUSE_COMPONENTS})
if(rouse_components STREQUAL "all")
  set(rouse_components ${rouse_known_components})
endif()
foreach(component IN LISTS rouse_components)
  if(NOT component IN_LIST rouse_known_components)
    list(JOIN rouse_known_components ", " there_are)
    message(FATAL_ERROR "ROUSE_COMPONENTS: there is no component '${component}'. There are: ${there_are}; or say all.")
  endif()
endforeach()
# What one builds on comes along, and before it.
if(http IN_LIST rouse_components)
  list(APPEND rouse_components tls)
endif()
set(asked_for ${rouse_components})
set(rouse_components)
foreach(component IN LISTS rouse_known_components)
  if(component IN_LIST asked_for)
    list(APPEND rouse_components ${component})
  endif()
endforeach()
set(rouse_components_left_out ${rouse_known_components}) # whose tests and the like are left out, too
list(REMOVE_ITEM rouse_components_left_out ${rouse_components})

# rouse_components_in(RESULT SOURCE): the targets of the components whose headers this source of an example,
# a test or a fuzz target includes. RESULT_left_out is true if one of them is not built: then nor is that.
function(rouse_components_in result source)
  set(targets)
  set(left_out FALSE)
  foreach(component IN LISTS rouse_known_components)
    file(STRINGS ${source} includes REGEX "^#include [<\"]rouse/${component}[./]")
    if(includes)
      list(APPEND targets rouse::${component})
      if(component IN_LIST rouse_components_left_out)
        set(left_out TRUE)
      endif()
    endif()
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
  set(${result}_left_out ${left_out} PARENT_SCOPE)
endfunction()

# rouse_component_needs(NAME FOUND LIBRARY PACKAGES): stops with what to do unless FOUND is true.
function(rouse_component_needs name found library packages)
  if(NOT found)
    message(FATAL_ERROR "rouse's component '${name}' needs ${library} (Debian: apt install ${packages}). "
                        "Install it, or leave '${name}' out of ROUSE_COMPONENTS.")
  endif()
endfunction()

# rouse_component(NAME
#   SOURCES file...
#   COMPONENTS component...   those it builds on
#   LINKS target...           what it calls; no header of ours shows a type of it
#   FINDS arguments...        one string for each find_dependency that a static library needs
#   PKG_CONFIG module...      the same for pkg-config
#   LIBS flag...              the same of what has no module: -lwslay
#   DEBIAN package...         what who builds it has to install
#   DESCRIPTION text)
function(rouse_component name)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "DESCRIPTION" "SOURCES;COMPONENTS;LINKS;FINDS;PKG_CONFIG;LIBS;DEBIAN")
  set(target rouse_${name})
  add_library(${target} ${of_SOURCES})
  add_library(rouse::${name} ALIAS ${target})
  list(TRANSFORM of_COMPONENTS PREPEND rouse:: OUTPUT_VARIABLE others)
  target_link_libraries(
    ${target}
    PUBLIC rouse::rouse ${others}
    PRIVATE ${of_LINKS} $<BUILD_INTERFACE:rouse_warnings>)
  # The library's own seams are open to its components: they are built with it.
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${name}
               CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT BUILD_SHARED_LIBS
     AND (PROJECT_IS_TOP_LEVEL OR NOT CMAKE_CXX_COMPILER_LAUNCHER))
    target_precompile_headers(${target} REUSE_FROM rouse)
  endif()
  set_property(GLOBAL APPEND PROPERTY rouse_components_made ${name})
  foreach(property COMPONENTS FINDS PKG_CONFIG LIBS DEBIAN DESCRIPTION)
    set_property(TARGET ${target} PROPERTY rouse_${property} "${of_${property}}")
  endforeach()
endfunction()

# Called by install.cmake, which knows the places.
function(rouse_install_component name)
  set(target rouse_${name})
  foreach(property COMPONENTS FINDS PKG_CONFIG LIBS DEBIAN DESCRIPTION)
    get_target_property(component_${property} ${target} rouse_${property})
  endforeach()
  install(TARGETS ${target} EXPORT ${target}Targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${target}Targets NAMESPACE rouse:: DESTINATION ${rouse_package_dir})
  install(FILES include/rouse/${name}.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rouse)
  install(
    DIRECTORY include/rouse/${name}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rouse
    FILES_MATCHING
    PATTERN "*.hpp")

  # Whoever links a shared library needs nothing of what it calls.
  set(component_finds)
  set(component_requires "rouse")
  foreach(other IN LISTS component_COMPONENTS)
    string(APPEND component_requires " rouse-${other}")
  endforeach()
  set(component_libs)
  if(NOT BUILD_SHARED_LIBS)
    list(JOIN component_PKG_CONFIG " " modules)
    string(APPEND component_requires " ${modules}")
    list(JOIN component_LIBS " " component_libs)
    foreach(find IN LISTS component_FINDS)
      string(APPEND component_finds "find_dependency(${find})\n")
    endforeach()
  endif()
  set(component_name ${name})
  configure_file(cmake/rouseComponent.cmake.in rouse_${name}.cmake @ONLY)
  configure_file(cmake/rouse-component.pc.in rouse-${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rouse_${name}.cmake DESTINATION ${rouse_package_dir})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rouse-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
