# rouse_warnings: what rouse's own code is compiled with. Never exported to users.
add_library(rouse_warnings INTERFACE)
target_compile_options(
  rouse_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wold-style-cast
            -Wcast-qual
            -Wcast-align
            -Wimplicit-fallthrough
            -Wextra-semi
            -Wundef
            $<$<BOOL:${ROUSE_WERROR}>:-Werror>)
