# rouse_sanitize: the flags that ROUSE_SANITIZE asks for; empty by default. Whoever uses the library
# needs rouse_sanitizers of them.
set(rouse_sanitizers)
add_library(rouse_sanitize INTERFACE)
if(ROUSE_SANITIZE STREQUAL "address")
  set(rouse_sanitizers -fsanitize=address,undefined) # LeakSanitizer comes with address
elseif(ROUSE_SANITIZE STREQUAL "thread")
  set(rouse_sanitizers -fsanitize=thread)
elseif(ROUSE_SANITIZE STREQUAL "fuzz")
  # Everything tells libFuzzer where it was; only the targets, in fuzz/, are linked with it.
  set(rouse_sanitizers -fsanitize=address,undefined,fuzzer-no-link)
elseif(ROUSE_SANITIZE)
  message(FATAL_ERROR "ROUSE_SANITIZE is address, thread, fuzz or empty, not '${ROUSE_SANITIZE}'")
endif()
if(ROUSE_SANITIZE)
  target_compile_options(rouse_sanitize INTERFACE ${rouse_sanitizers} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
  target_link_options(rouse_sanitize INTERFACE ${rouse_sanitizers})
endif()
