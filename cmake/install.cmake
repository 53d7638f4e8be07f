# What `cmake --install` puts where: library, headers, CMake package, pkg-config file, components, rouse-debug.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(rouse_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rouse)
install(TARGETS rouse EXPORT rouseTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET rouse_model)
  install(TARGETS rouse_model EXPORT rouseTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
# Headers of components come with their libraries.
set(of_components)
foreach(component IN LISTS rouse_known_components)
  list(APPEND of_components REGEX "/${component}(\\.hpp)?$" EXCLUDE)
endforeach()
install(
  DIRECTORY include/rouse
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.hpp"
  PATTERN "*.cppm"
  ${of_components})
install(PROGRAMS tools/rouse-top DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT rouseTargets NAMESPACE rouse:: DESTINATION ${rouse_package_dir})

configure_package_config_file(
  cmake/rouseConfig.cmake.in rouseConfig.cmake
  INSTALL_DESTINATION ${rouse_package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor version may break the API, so 0.1 does not stand in for 0.2.
write_basic_package_version_file(rouseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/rouseModule.cmake cmake/rouseLint.cmake cmake/rouse.clang-tidy
              ${CMAKE_CURRENT_BINARY_DIR}/rouseConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/rouseConfigVersion.cmake
        DESTINATION ${rouse_package_dir})

# The .pc file finds the prefix from its own place, so that `cmake --install --prefix` and a moved
# tree are right. With an absolute libdir there is no fixed way from one to the other.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
# cmake_path(APPEND) leaves an absolute directory as it is.
set(pc_libdir "\${prefix}")
cmake_path(APPEND pc_libdir ${CMAKE_INSTALL_LIBDIR})
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
set(pc_sanitizers)
if(rouse_sanitizers)
  set(pc_sanitizers " ${rouse_sanitizers}")
endif()
configure_file(cmake/rouse.pc.in rouse.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rouse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

get_property(rouse_components_made GLOBAL PROPERTY rouse_components_made)
foreach(component IN LISTS rouse_components_made)
  rouse_install_component(${component})
endforeach()

# rouse-debug finds its modules, and gdb the command that comes with a shared library, from their own
# places, too.
set(rouse_share_dir ${CMAKE_INSTALL_DATADIR}/rouse)
file(RELATIVE_PATH bin_to_share ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/rouse)
file(RELATIVE_PATH gdb_to_share ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR}/rouse)
file(READ tools/rouse-debug rouse_debug)
string(REPLACE "../share/rouse" "${bin_to_share}" rouse_debug "${rouse_debug}")
file(CONFIGURE OUTPUT rouse-debug CONTENT "${rouse_debug}" @ONLY)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/rouse-debug DESTINATION ${CMAKE_INSTALL_BINDIR})
install(
  DIRECTORY tools/rouse_debug
  DESTINATION ${rouse_share_dir}
  FILES_MATCHING
  PATTERN "*.py")
if(BUILD_SHARED_LIBS)
  configure_file(cmake/rouse-gdb.py.in rouse-gdb.py @ONLY)
  install(
    FILES ${CMAKE_CURRENT_BINARY_DIR}/rouse-gdb.py
    DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RENAME $<TARGET_FILE_NAME:rouse>-gdb.py)
endif()
