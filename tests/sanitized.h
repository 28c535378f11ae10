// Whether a sanitizer watches this program: memory then says nothing about the product.
#pragma once

namespace tboost::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tboost::testing

#define TBOOST_SKIP_IF_SANITIZED() \
  if (::tboost::testing::kSanitized) GTEST_SKIP() << "NOT RUN: memory under a sanitizer"
