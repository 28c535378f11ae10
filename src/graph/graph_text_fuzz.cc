// Fuzzes the text form of a graph: what parses must be written and read back to the same text.
#include <cstdint>

#include "src/graph/graph.h"
#include "src/graph/toy_ops.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto ops = tboost::toy::Ops();
  const auto graph =
      tboost::ParseGraph(std::string_view(reinterpret_cast<const char*>(data), size), ops);
  if (!graph.ok()) return 0;
  const std::string text = tboost::ToText(*graph);
  const auto again = tboost::ParseGraph(text, ops);
  if (!again.ok() || tboost::ToText(*again) != text) __builtin_trap();
  return 0;
}
