// Any bytes: no crash, and what is accepted is a document that prints and reads back equal.
#include <cstdlib>

#include "src/base/config.h"
#include "src/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tboost;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  JsonLimits limits;
  if (!text.empty()) {
    limits.allow_comments = text.front() & 1;
    limits.allow_duplicate_keys = text.front() & 2;
    text.remove_prefix(1);
  }
  const Result<Json> json = ParseJson(text, "fuzz", limits);
  if (json.ok()) {
    const Result<Json> again = ParseJson(json->dump(), "fuzz");
    if (!again.ok() || *again != *json) std::abort();
    for (const char* key : {"a", "b"}) {
      (void)ConfigBytes(*json, key, 0, "fuzz").ok();
      (void)JsonGet<bool>(*json, key, false, "fuzz").ok();
      (void)JsonGet<int64_t>(*json, key, 0, "fuzz").ok();
      (void)JsonGet<double>(*json, key, 0, "fuzz").ok();
    }
  } else {
    (void)Json(json.status().message()).dump();  // aborts where the message is not UTF-8
  }
  (void)ParseBandwidth(text).ok();
  (void)ParseDuration(text).ok();
  return 0;
}
