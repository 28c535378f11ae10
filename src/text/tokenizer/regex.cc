#define PCRE2_CODE_UNIT_WIDTH 8
#include "src/text/tokenizer/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <new>
#include <string>

namespace tboost {
namespace {

constexpr size_t kMaxPattern = size_t{1} << 16;
constexpr uint32_t kMatchLimit = 10'000'000;  // backtracking steps of one match
constexpr uint32_t kHeapLimitKb = 64 * 1024;
constexpr size_t kJitStackStart = 32 * 1024, kJitStackMax = 8 * 1024 * 1024;

std::string ErrorText(int code) {
  unsigned char buffer[256] = {};
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

// \s and \S as Unicode's White_Space: PCRE2's own \s has U+180E besides.
std::string WithUnicodeSpaces(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view escape = pattern.substr(i, 2);
    if (escape == "\\s") {
      out += "\\p{White_Space}";
    } else if (escape == "\\S") {
      out += "\\P{White_Space}";
    } else {
      out += pattern[i] == '\\' ? escape : escape.substr(0, 1);
    }
    if (pattern[i] == '\\') ++i;
  }
  return out;
}

template <auto function>
struct FreeWith {
  template <class T>
  void operator()(T* pointer) const {
    function(pointer);
  }
};

}  // namespace

struct Regex::Code {
  std::string pattern;
  std::unique_ptr<pcre2_code, FreeWith<pcre2_code_free>> code;
};

struct Regex::Scratch::State {
  std::unique_ptr<pcre2_match_data, FreeWith<pcre2_match_data_free>> match;
  std::unique_ptr<pcre2_match_context, FreeWith<pcre2_match_context_free>> context;
  std::unique_ptr<pcre2_jit_stack, FreeWith<pcre2_jit_stack_free>> stack;
};

Regex::Scratch::Scratch(const Regex& regex) : state_(std::make_unique<State>()) {
  state_->match.reset(pcre2_match_data_create_from_pattern(regex.code_->code.get(), nullptr));
  state_->context.reset(pcre2_match_context_create(nullptr));
  state_->stack.reset(pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr));
  if (!state_->match || !state_->context) throw std::bad_alloc();
  pcre2_set_match_limit(state_->context.get(), kMatchLimit);
  pcre2_set_heap_limit(state_->context.get(), kHeapLimitKb);
  if (state_->stack) pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
}
Regex::Scratch::~Scratch() = default;

Regex::Regex(std::unique_ptr<Code> code) : code_(std::move(code)) {}
Regex::Regex(Regex&& other) noexcept = default;
Regex& Regex::operator=(Regex&& other) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::Compile(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) {
    return UnsupportedError("pattern of {} bytes, at most {} are supported", pattern.size(),
                            kMaxPattern);
  }
  int error = 0;
  size_t offset = 0;
  auto code = std::make_unique<Code>();
  code->pattern = pattern;
  const std::string text = WithUnicodeSpaces(pattern);
  code->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                                 nullptr));
  if (!code->code) {
    return CorruptError("pattern \"{}\": {} at byte {}", pattern, ErrorText(error), offset);
  }
  pcre2_jit_compile(code->code.get(), PCRE2_JIT_COMPLETE);  // without JIT the same matches, slower
  return Regex(std::move(code));
}

Status Regex::FindAll(std::string_view text, Scratch* scratch,
                      std::vector<TextRange>* matches) const {
  matches->clear();
  Scratch::State& state = *scratch->state_;
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  uint32_t options = PCRE2_NO_UTF_CHECK;
  for (size_t at = 0; at < text.size();) {
    const int rc = pcre2_match(code_->code.get(), subject, text.size(), at, options,
                               state.match.get(), state.context.get());
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its stack on the heap
      options |= PCRE2_NO_JIT;
      continue;
    }
    if (rc < 0) {
      return ResourceExhaustedError("pattern \"{}\" on {} bytes of text: {}", code_->pattern,
                                    text.size(), ErrorText(rc));
    }
    const size_t* ends = pcre2_get_ovector_pointer(state.match.get());
    if (ends[1] > ends[0] && ends[0] >= at) {
      matches->push_back({ends[0], ends[1]});
      at = ends[1];
      continue;
    }
    at = std::max(at, ends[1]) + 1;  // behind an empty match, at the next code point
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return OkStatus();
}

}  // namespace tboost
