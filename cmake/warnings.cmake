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
            # GCC 12 sees unset members of std::optional, std::variant and unions behind a tag.
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
            $<$<BOOL:${ROUSE_WERROR}>:-Werror>)
