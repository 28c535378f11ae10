// Reads the fields of messages into the members of structs: a table of rules per struct says which
// field goes where, the member's type how. For parse.cc alone, which has the tables.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/base/status.h"
#include "src/formats/onnx/external.h"
#include "src/formats/onnx/finish.h"
#include "src/formats/onnx/tensor.h"
#include "src/formats/onnx/wire.h"

namespace tboost {

// Messages within messages. A graph in an attribute of a node in a graph is three levels down.
inline constexpr int kMaxDepth = 3 * 64 + 8;
// What the structs may take, by the size of the file. Those of real models take up to 16 times the
// bytes they are read from; but a field of four bytes can become a struct of hundreds, and a small
// file of such fields would fill the memory.
inline uint64_t MaxStructBytes(uint64_t file_bytes) {
  constexpr uint64_t kLimit = uint64_t{1} << 31;
  return std::min((uint64_t{1} << 24) + 32 * std::min(file_bytes, kLimit), kLimit);
}

class OnnxParser;

// One field of a message that is read into a T. Fields without a rule are skipped.
template <class T>
struct OnnxRule {
  uint32_t number;
  std::string_view name;
  Status (*read)(OnnxParser&, const WireField&, T&);
};
template <class T>
using OnnxRules = std::span<const OnnxRule<T>>;

// The rules of the structs that stand for one kind of message.
OnnxRules<OnnxDim> RulesOf(const OnnxDim&);
OnnxRules<OnnxType> RulesOf(const OnnxType&);
OnnxRules<OnnxValue> RulesOf(const OnnxValue&);
OnnxRules<OnnxAttribute> RulesOf(const OnnxAttribute&);
OnnxRules<OnnxNode> RulesOf(const OnnxNode&);
OnnxRules<OnnxGraph> RulesOf(const OnnxGraph&);
OnnxRules<OnnxOpset> RulesOf(const OnnxOpset&);
OnnxRules<OnnxFunction> RulesOf(const OnnxFunction&);
OnnxRules<OnnxModel> RulesOf(const OnnxModel&);
OnnxRules<StringPair> RulesOf(const StringPair&);
OnnxRules<TensorFields> RulesOf(const TensorFields&);

template <class T>
concept OnnxMessage = requires(const T& message) {
  RulesOf(message);
};

// Reads fields into members, by the members' types.
class OnnxParser {
 public:
  OnnxParser(std::string_view model, ExternalFiles& files)
      : model_(model), files_(files), left_(MaxStructBytes(model.size())) {}

  // As in protobuf, a message given twice adds to what the first one says.
  template <class T>
  Status ReadMessage(const WireField& field, OnnxRules<T> rules, T& out);

  Status Read(const WireField& field, std::string_view& out) {
    out = field.bytes;
    return ExpectType(field, WireType::kBytes);
  }
  Status Read(const WireField& field, int64_t& out) {
    out = static_cast<int64_t>(field.value);
    return ExpectType(field, WireType::kVarint);
  }
  Status Read(const WireField& field, float& out) {
    out = std::bit_cast<float>(static_cast<uint32_t>(field.value));
    return ExpectType(field, WireType::kFixed32);
  }
  template <class T>
  requires std::is_enum_v<T> Status Read(const WireField& field, T& out) {
    out = static_cast<T>(static_cast<int32_t>(field.value));
    return ExpectType(field, WireType::kVarint);
  }
  template <OnnxMessage T>
  Status Read(const WireField& field, T& out) {
    Status status = ReadMessage(field, RulesOf(out), out);
    if (status.ok()) status = Finish(out);
    return status.ok() ? status : WithLabel(status, out);
  }
  Status Read(const WireField& field, std::vector<int64_t>& out) {
    return ReadNumbers(field, WireType::kVarint, out);
  }
  Status Read(const WireField& field, std::vector<float>& out) {
    return ReadNumbers(field, WireType::kFixed32, out);
  }
  Status Read(const WireField& field, std::vector<OnnxTensor>& out);
  template <class T>
  Status Read(const WireField& field, std::vector<T>& out) {
    TBOOST_RETURN_IF_ERROR(Charge(sizeof(T)));
    return Read(field, out.emplace_back());
  }

 private:
  template <class T>
  Status ReadNumbers(const WireField& field, WireType type, std::vector<T>& out) {
    return ForEachNumber(field, type, [&](uint64_t value) {
      TBOOST_RETURN_IF_ERROR(Charge(sizeof(T)));
      if constexpr (std::is_same_v<T, float>) {
        out.push_back(std::bit_cast<float>(static_cast<uint32_t>(value)));
      } else {
        out.push_back(static_cast<T>(value));
      }
      return OkStatus();
    });
  }
  Status Charge(uint64_t bytes) {
    if (bytes > left_)
      return ResourceExhaustedError("the model's structure takes more than {} bytes of memory",
                                    MaxStructBytes(model_.size()));
    left_ -= bytes;
    return OkStatus();
  }

  std::string_view model_;
  ExternalFiles& files_;
  int depth_ = 0;
  uint64_t left_;  // of MaxStructBytes
};

template <class T>
Status OnnxParser::ReadMessage(const WireField& field, OnnxRules<T> rules, T& out) {
  TBOOST_RETURN_IF_ERROR(ExpectType(field, WireType::kBytes));
  if (depth_ == kMaxDepth) return CorruptError("messages nest more than {} deep", kMaxDepth);
  ++depth_;
  WireReader reader(field.bytes, model_.data());
  while (!reader.done()) {
    TBOOST_ASSIGN_OR_RETURN(WireField inner, reader.Next());
    const auto rule = std::ranges::find(rules, inner.number, &OnnxRule<T>::number);
    if (rule == rules.end()) continue;
    inner.name = rule->name;
    TBOOST_RETURN_IF_ERROR(rule->read(*this, inner, out));
  }
  --depth_;
  return OkStatus();
}

inline Status OnnxParser::Read(const WireField& field, std::vector<OnnxTensor>& out) {
  TBOOST_RETURN_IF_ERROR(Charge(sizeof(OnnxTensor)));
  TensorFields fields;
  fields.message = field.bytes;
  Status status = ReadMessage(field, RulesOf(fields), fields);
  if (status.ok()) {
    Result<OnnxTensor> tensor = PlaceTensor(fields, model_, files_);
    if (tensor.ok()) {
      out.push_back(std::move(tensor).value());
      return OkStatus();
    }
    status = tensor.status();
  }
  OnnxTensor named;
  named.name = fields.name;
  return status.WithContext(Label(named));
}

}  // namespace tboost
