#include "src/base/function_ref.h"

#include <gtest/gtest.h>

#include <string>

namespace tboost {
namespace {

std::string Twice(FunctionRef<std::string(int, std::string)> f) { return f(1, "a") + f(2, "b"); }

TEST(FunctionRefTest, CallsWhatItRefersTo) {
  int calls = 0;
  const auto count = [&](int i, std::string text) {
    ++calls;
    return text + std::to_string(i);
  };
  EXPECT_EQ(Twice(count), "a1b2");
  EXPECT_EQ(calls, 2);
}

TEST(FunctionRefTest, KeepsTheStateOfAMutableCallable) {
  int sum = 0;
  auto add = [total = 0, &sum](int i) mutable { sum = total += i; };
  FunctionRef<void(int)> ref = add;
  const FunctionRef<void(int)> copy = ref;
  ref(2);
  copy(3);
  EXPECT_EQ(sum, 5);
}

}  // namespace
}  // namespace tboost
