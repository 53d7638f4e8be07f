# rouse_sanitize: the flags that ROUSE_SANITIZE asks for; empty by default.
add_library(rouse_sanitize INTERFACE)
if(ROUSE_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined) # LeakSanitizer comes with address
elseif(ROUSE_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
elseif(ROUSE_SANITIZE STREQUAL "fuzz")
  # Everything tells libFuzzer where it was; only the targets, in fuzz/, are linked with it.
  set(sanitizers -fsanitize=address,undefined,fuzzer-no-link)
elseif(ROUSE_SANITIZE)
  message(FATAL_ERROR "ROUSE_SANITIZE is address, thread, fuzz or empty, not '${ROUSE_SANITIZE}'")
endif()
if(ROUSE_SANITIZE)
  target_compile_options(rouse_sanitize INTERFACE ${sanitizers} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
  target_link_options(rouse_sanitize INTERFACE ${sanitizers})
  unset(sanitizers)
endif()
