// What the suites over all operators share: operands drawn for a case, its reference and its kernel
// call.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/kernels/kernels.h"
#include "src/ops/ops.h"
#include "src/tensor/buffer.h"

namespace tboost {

// A layout that owns its arrays; pages are assigned in a shuffled order.
struct LayoutData {
  std::vector<int32_t> offsets, past, pages, sequence_of;
  SequenceLayout view;
  int64_t page_count = 0;
};
std::unique_ptr<LayoutData> MakeLayout(const std::vector<int32_t>& lengths,
                                       const std::vector<int32_t>& past);

// Everything an operator is called with. `tensors` are exactly the numbers in `stored`, which holds
// them as kernels read them (panels for such operands).
struct CaseData {
  const OpRecord* op = nullptr;
  OpCase test;
  std::vector<RefTensor> tensors;
  std::vector<Buffer> stored;
  std::unique_ptr<LayoutData> layout;
  RefKvCache cache;  // before the call
  std::vector<ValueType> outputs;
  std::unique_ptr<bool[]> present;

  bool IsTensor(size_t operand) const {
    return present[operand] && op->inputs[operand].kind == ValueType::Kind::kTensor;
  }
};
// Fails the test and returns data without outputs where the operator refuses its own case.
CaseData DrawCase(const OpRecord& op, const OpCase& test, uint32_t seed);
// The part of `data` for rows [first, first + rows) of the step, which are sequence `sequence`
// where there is a layout.
CaseData SliceCase(const CaseData& data, int64_t first, int64_t rows, int sequence);
// Rows of a step: tokens, or rows of the result where there is no layout.
int64_t StepRows(const CaseData& data);

struct Results {
  std::vector<RefTensor> tensors;  // one for each output
  RefKvCache cache;                // after the call
};
Results RunReference(const CaseData& data);

struct RunOptions {
  int threads = 1;
  uint32_t order = 0;     // seed of the order of tasks; 0: ascending
  int64_t padding = 0;    // elements between rows of operands and results
  bool in_place = false;  // output 0 on the memory of in_place_input
};
// The lowered call on a kernel table. Checks that nothing is written between rows.
Results RunLowered(const CaseData& data, const kernels::KernelTable& kernels,
                   const RunOptions& options);

// Whether every number, NaN included, is the same.
bool SameBits(const Results& a, const Results& b);

// Tables of every instruction set that this machine has, up to TBOOST_MAX_ISA.
std::vector<const kernels::KernelTable*> MachineTables();

// The shape of a type without symbols, and memory; the test fails where there is none.
Shape KnownShape(const ValueType& type);
Buffer AllocateBuffer(size_t bytes);

// One test for each operator.
std::string OpTestName(const testing::TestParamInfo<const OpRecord*>& info);

}  // namespace tboost
