#include "src/text/tokenizer/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

namespace tboost {
namespace {

bool InCategory(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

const icu::Normalizer2* NormalizerFor(NormalForm form, UErrorCode* error) {
  switch (form) {
    case NormalForm::kNfc:
      return icu::Normalizer2::getNFCInstance(*error);
    case NormalForm::kNfd:
      return icu::Normalizer2::getNFDInstance(*error);
    case NormalForm::kNfkc:
      return icu::Normalizer2::getNFKCInstance(*error);
    case NormalForm::kNfkd:
      return icu::Normalizer2::getNFKDInstance(*error);
  }
  return nullptr;
}

}  // namespace

bool IsWhitespace(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)); }

bool IsPunctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) ||
           (c >= 0x7B && c <= 0x7E);
  }
  return InCategory(c, U_GC_P_MASK);
}

bool IsNumeric(char32_t c) { return InCategory(c, U_GC_N_MASK); }
bool IsMark(char32_t c) { return InCategory(c, U_GC_M_MASK); }
bool IsNonspacingMark(char32_t c) { return InCategory(c, U_GC_MN_MASK); }
bool IsControl(char32_t c) { return InCategory(c, U_GC_C_MASK & ~U_GC_CN_MASK); }

bool IsWordCharacter(char32_t c) {
  return u_isUAlphabetic(static_cast<UChar32>(c)) ||
         InCategory(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) || c == 0x200C || c == 0x200D;
}

bool IsCjkIdeograph(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kRanges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                      {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                      {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  for (const Range& range : kRanges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

std::string Lowercase(std::string_view text) {
  constexpr char32_t kCapitalIWithDot = 0x130;  // the one code point whose lower case is two
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = NextCodePoint(text, &pos);
    AppendUtf8(c == kCapitalIWithDot ? U'i' : static_cast<char32_t>(u_tolower(c)), out);
    if (c == kCapitalIWithDot) AppendUtf8(0x307, out);
  }
  return out;
}

std::string Normalize(NormalForm form, std::string_view text) {
  if (IsAscii(text)) return std::string(text);
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = NormalizerFor(form, &error);
  std::string out;
  if (U_FAILURE(error) || normalizer == nullptr) return std::string(text);
  icu::StringByteSink<std::string> sink(&out);
  normalizer->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())),
                            sink, nullptr, error);
  return U_FAILURE(error) ? std::string(text) : out;
}

}  // namespace tboost
