// The real models that some tests read.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace tboost::testing {

// A file or folder of models/, or "" where it is missing. Tests then fail where
// TBOOST_REQUIRE_MODELS is 1, else say that they did not run (TBOOST_REQUIRE_MODEL below).
inline std::string RealModel(std::string_view name) {
  const std::string path = TBOOST_SOURCE_DIR "/models/" + std::string(name);
  return std::filesystem::exists(path) ? path : "";
}
#define TBOOST_REQUIRE_MODEL(name)                                         \
  if (::tboost::testing::RealModel(name).empty()) {                        \
    const char* required = std::getenv("TBOOST_REQUIRE_MODELS");           \
    if (required && std::string_view(required) == "1")                     \
      FAIL() << "models/" << (name) << " is missing; `make deps` gets it"; \
    GTEST_SKIP() << "NOT RUN: models/" << (name) << " is missing";         \
  }

}  // namespace tboost::testing
