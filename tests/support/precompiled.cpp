// Empty: test_headers (tests/CMakeLists.txt) is about its precompiled header, and CMake makes none
// for a target without a source.
