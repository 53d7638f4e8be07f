# rouse_lint(target...): clang-tidy looks at each source of the targets as it is compiled, for mistakes
# with coroutines that compile (rouse.clang-tidy).
function(rouse_lint)
  find_program(ROUSE_CLANG_TIDY NAMES clang-tidy-21 clang-tidy-20 clang-tidy-19 clang-tidy-18 clang-tidy-17 clang-tidy)
  if(ROUSE_CLANG_TIDY)
    execute_process(COMMAND ${ROUSE_CLANG_TIDY} --version OUTPUT_VARIABLE version)
    string(REGEX MATCH "version ([0-9]+)" version "${version}")
  endif()
  # Older ones skip checks that they do not know, without a word.
  if(NOT version OR CMAKE_MATCH_1 VERSION_LESS 17)
    message(FATAL_ERROR "rouse_lint needs clang-tidy 17 or newer (Debian: clang-tidy-19). Install it, or set "
                        "ROUSE_CLANG_TIDY to its path.")
  endif()
  set_target_properties(${ARGN} PROPERTIES CXX_CLANG_TIDY
                                           "${ROUSE_CLANG_TIDY};--config-file=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/rouse.clang-tidy")
endfunction()
