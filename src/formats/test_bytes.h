// Files for tests: builders of well-formed and broken bytes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "src/base/bytes.h"
#include "src/base/status.h"

namespace tboost::testing {

// Matches a failure of this code whose message has `text` in it.
MATCHER_P2(FailsWith, code, text, "") {
  const Status& status = [&]() -> const Status& {
    if constexpr (requires { arg.status(); }) {
      return arg.status();
    } else {
      return arg;
    }
  }();
  *result_listener << StatusCodeName(status.code()) << ": " << status.message();
  return status.code() == code && status.message().find(text) != std::string::npos;
}

// A folder of the running test, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "tboost_" + test->test_suite_name() + "_" + test->name();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Writes a file (making its folders) and gives its path.
  std::string Write(std::string_view name, std::string_view bytes) const {
    const std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string path_;
};

// A safetensors file of this header and data.
inline std::string SafetensorsFile(std::string_view header, std::string_view data) {
  ByteWriter out;
  out.WriteString(header);
  out.WriteBytes(data);
  return out.Take();
}

}  // namespace tboost::testing
