// What holds between the fields of a message, checked when all of them are read.
#pragma once

#include "src/base/status.h"
#include "src/formats/onnx/onnx.h"

namespace tboost {

// Checks what onnx.h promises of each struct, and makes "ai.onnx" the domain "".
Status Finish(OnnxDim& dim);
Status Finish(OnnxAttribute& attribute);
Status Finish(OnnxNode& node);
Status Finish(OnnxGraph& graph);
Status Finish(OnnxOpset& opset);
Status Finish(OnnxFunction& function);
Status Finish(OnnxModel& model);
// Of messages without such rules.
template <class T>
Status Finish(T&) {
  return OkStatus();
}

// `status` under the message's name where messages of this kind have one.
template <class T>
Status WithLabel(const Status& status, const T& message) {
  if constexpr (requires { Label(message); }) {
    return status.WithContext(Label(message));
  } else {
    return status;
  }
}

}  // namespace tboost
