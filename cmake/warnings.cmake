# rouse_warnings: what rouse's own code is compiled with. Never exported to users.
add_library(rouse_warnings INTERFACE)
target_compile_options(
  rouse_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wold-style-cast
            -Wcast-qual
            -Wcast-align
            -Wimplicit-fallthrough
            -Wextra-semi
            -Wundef
            # In a unit of several files the names of one hide those of another; and GCC takes a
            # source that is included for a header, where a local type is a mistake.
            $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>
            # GCC 12 sees unset members of std::optional, std::variant and unions behind a tag.
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
            $<$<BOOL:${ROUSE_WERROR}>:-Werror>)
