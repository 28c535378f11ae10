// Whether a sanitizer watches this program: memory then says nothing about the product.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TBOOST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TBOOST_SANITIZED 1
#endif
#endif
#if !defined(TBOOST_SANITIZED)
#define TBOOST_SANITIZED 0
#endif

namespace tboost::testing {

inline constexpr bool kSanitized = TBOOST_SANITIZED;

}  // namespace tboost::testing

#define TBOOST_SKIP_IF_SANITIZED() \
  if (::tboost::testing::kSanitized) GTEST_SKIP() << "NOT RUN: memory under a sanitizer"
