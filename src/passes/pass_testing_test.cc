#include "src/passes/pass_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "src/base/checked.h"
#include "src/ops/interpreter.h"
#include "src/ops/ops.h"
#include "src/passes/pipeline.h"

namespace tboost {

Graph GraphFromText(const std::string& text) {
  auto graph = ParseGraph(text, BuiltinOps());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? *std::move(graph) : Graph();
}

void ExpectRewritten(const Pass& pass, const std::string& before, const std::string& after) {
  const Graph original = GraphFromText(before);
  Graph graph = original;
  const auto report = RunPass(pass, graph);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(ToText(graph), after);
  EXPECT_GT(report->changes, 0);
  ExpectSameResults(original, graph);
}

void ExpectKept(const Pass& pass, const std::string& text, const std::string& reason) {
  Graph graph = GraphFromText(text);
  const auto report = RunPass(pass, graph);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(ToText(graph), text);
  EXPECT_EQ(report->changes, 0);
  std::vector<std::string> reasons;
  for (const Missed& missed : report->missed) reasons.push_back(missed.reason);
  if (reason.empty())
    EXPECT_THAT(reasons, testing::IsEmpty());
  else
    EXPECT_THAT(reasons, testing::Contains(reason));
}

namespace {

// Five tokens of two sequences, of which the first has two more in the caches.
constexpr int32_t kOffsets[] = {0, 3, 5}, kSequenceOf[] = {0, 0, 0, 1, 1};
constexpr int32_t kPast[] = {2, 0}, kNoPast[] = {0, 0};
const SymbolValues kSymbols = {{"tokens", 5}, {"sequences", 2}, {"outputs", 3}};

// The bytes of every source file: random floats, some of them outliers.
Result<std::string_view> RandomFile(int, uint64_t offset, uint64_t bytes) {
  static const std::vector<float> floats = [] {
    std::vector<float> out(32768);
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < out.size(); ++i) out[i] = normal(random) * (i % 97 == 5 ? 20.0f : 1.0f);
    return out;
  }();
  const std::string_view all(reinterpret_cast<const char*>(floats.data()),
                             floats.size() * sizeof(float));
  if (!InRange(offset, bytes, all.size())) return OutOfRangeError("{} + {}", offset, bytes);
  return all.substr(offset, bytes);
}

// Random rows with an outlier channel; integers are 0 or 1, which every table and row list has.
RefTensor RandomTensor(const ValueType& type, std::mt19937& random) {
  RefTensor out;
  for (const Dim& dim : type.shape) out.shape.push_back(*dim.Evaluate(kSymbols));
  out.data.resize(out.shape.elements());
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = type.dtype == DType::kI32 ? static_cast<double>(random() % 2)
                                            : normal(random) * (i % out.columns() == 3 ? 100 : 1);
  return out;
}

struct Results {
  std::map<std::string, RefTensor> tensors;
  std::map<std::string, RefKvCache> caches;
};

Results Compute(const Graph& graph) {
  Results out;
  InterpreterInputs inputs;
  std::mt19937 random(2);
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    if (value.type.kind == ValueType::Kind::kTensor) {
      inputs.tensors[value.name] = RandomTensor(value.type, random);
    } else if (value.type.kind == ValueType::Kind::kKvCache) {
      RefKvCache& cache = out.caches[value.name];
      cache.kv_heads = static_cast<int>(*value.type.shape[0].constant());
      cache.head_dim = static_cast<int>(*value.type.shape[1].constant());
      for (const int32_t past : kPast) {
        std::vector<double> rows(past * cache.kv_heads * cache.head_dim);
        for (double& x : rows) x = static_cast<double>(random() % 1000) / 500 - 1;
        cache.keys.push_back(rows);
        cache.values.push_back(rows);
      }
      inputs.caches[value.name] = &cache;
    }
  }
  SequenceLayout layout;
  layout.sequences = 2;
  layout.tokens = 5;
  layout.offsets = kOffsets;
  layout.past = out.caches.empty() ? kNoPast : kPast;
  layout.sequence_of = kSequenceOf;
  inputs.layout = &layout;
  const auto source = [](int file, uint64_t offset, uint64_t bytes) {
    return RandomFile(file, offset, bytes);
  };
  auto tensors = InterpretOutputs(graph, inputs, source);
  EXPECT_TRUE(tensors.ok()) << tensors.status().message();
  if (tensors.ok()) out.tensors = *std::move(tensors);
  return out;
}

void ExpectClose(const std::vector<double>& a, const std::vector<double>& b,
                 const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(std::isfinite(a[i]) && std::isfinite(b[i])) << what;
    largest = std::max(largest, std::abs(a[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  EXPECT_LE(difference, 1e-10 * largest) << what;
}

}  // namespace

void ExpectSameResults(const Graph& before, const Graph& after) {
  const Results a = Compute(before), b = Compute(after);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    ASSERT_TRUE(b.tensors.contains(name)) << name;
    EXPECT_EQ(tensor.shape, b.tensors.at(name).shape) << name;
    ExpectClose(tensor.data, b.tensors.at(name).data, name);
  }
  for (const auto& [name, cache] : a.caches) {
    for (size_t s = 0; s < cache.keys.size(); ++s) {
      ExpectClose(cache.keys[s], b.caches.at(name).keys[s], name + " keys");
      ExpectClose(cache.values[s], b.caches.at(name).values[s], name + " values");
    }
  }
}

TEST(PassTesting, DifferentGraphsAreTold) {
  const auto graph = [](const std::string& op) {
    return GraphFromText("input %x : f32[tokens, 8]\n%y : f32[tokens, 8] = " + op +
                         "(%x, %x)\noutput y = %y\n");
  };
  ExpectSameResults(graph("add"), graph("add"));
  EXPECT_NONFATAL_FAILURE(ExpectSameResults(graph("add"), graph("mul")), "difference");
}

}  // namespace tboost
