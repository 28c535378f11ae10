# Headers that most files read, parsed once: a third of the build time otherwise. Files still include what
# they use; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows that they do. Kernels of an instruction set have none.
set(TBOOST_PRECOMPILED <algorithm> <cstdint> <fmt/format.h> <functional> <map> <memory> <nlohmann/json.hpp>
                       <optional> <span> <string> <string_view> <utility> <vector>)
file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
file(WRITE ${CMAKE_BINARY_DIR}/precompiled_test.cc "")
add_library(tboost_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
target_link_libraries(tboost_precompiled PRIVATE tboost_pkg_fmt tboost_pkg_nlohmann_json)
target_precompile_headers(tboost_precompiled PRIVATE ${TBOOST_PRECOMPILED})

if(TBOOST_TESTS)
  find_package(GTest REQUIRED)
  add_library(tboost_precompiled_test OBJECT ${CMAKE_BINARY_DIR}/precompiled_test.cc)
  target_link_libraries(tboost_precompiled_test PRIVATE tboost_pkg_fmt tboost_pkg_nlohmann_json GTest::gtest GTest::gmock)
  target_compile_definitions(tboost_precompiled_test PRIVATE TBOOST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_precompile_headers(tboost_precompiled_test PRIVATE ${TBOOST_PRECOMPILED} <gmock/gmock.h> <gtest/gtest.h>)
endif()
