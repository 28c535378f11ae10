#include "src/text/template/chat_template.h"

#include <limits>

#include "src/base/status.h"
#include "src/base/utf8.h"
#include "src/text/template/interpreter.h"

namespace tboost {
namespace {

using chat::Value;

Value FromJson(const OrderedJson& json) {
  switch (json.type()) {
    case OrderedJson::value_t::boolean:
      return json.get<bool>();
    case OrderedJson::value_t::number_integer:
      return json.get<int64_t>();
    case OrderedJson::value_t::number_unsigned:
      if (json.get<uint64_t>() > std::numeric_limits<int64_t>::max()) return json.get<double>();
      return json.get<int64_t>();
    case OrderedJson::value_t::number_float:
      return json.get<double>();
    case OrderedJson::value_t::string:
      return ReplaceInvalidUtf8(json.get_ref<const std::string&>());
    case OrderedJson::value_t::array: {
      std::vector<Value> items;
      for (const OrderedJson& item : json) items.push_back(FromJson(item));
      return Value::MakeList(std::move(items));
    }
    case OrderedJson::value_t::object: {
      std::vector<std::pair<Value, Value>> items;
      for (const auto& [key, item] : json.items()) {
        items.emplace_back(ReplaceInvalidUtf8(key), FromJson(item));
      }
      return Value::MakeDict(std::move(items));
    }
    default:
      return chat::None();
  }
}

// Whether arrays and objects of `json` nest at most `levels` deep.
bool NestsWithin(const OrderedJson& json, int levels) {
  if (!json.is_structured()) return true;
  if (levels == 0) return false;
  for (const OrderedJson& item : json) {
    if (!NestsWithin(item, levels - 1)) return false;
  }
  return true;
}

}  // namespace

Result<std::string> RenderChatTemplate(std::string_view text, const OrderedJson& context,
                                       const ChatTemplateOptions& options) {
  constexpr int kMaxNesting = 60;
  constexpr size_t kMaxTemplate = size_t{1} << 22;
  if (!context.is_object())
    return InvalidArgumentError("chat template: the context is not an object");
  if (!NestsWithin(context, kMaxNesting)) {
    return InvalidArgumentError("chat template: the context nests deeper than {}", kMaxNesting);
  }
  if (text.size() > kMaxTemplate) {
    return UnsupportedError("chat template of {} bytes, at most {} are supported", text.size(),
                            kMaxTemplate);
  }
  try {
    const chat::NodePtr block = chat::ParseTemplate(ReplaceInvalidUtf8(text));
    chat::Interpreter interpreter(options);
    for (const auto& [name, value] : context.items()) interpreter.SetGlobal(name, FromJson(value));
    return interpreter.Run(*block);
  } catch (const chat::TemplateError& error) {
    return InvalidArgumentError("chat template, line {}: {}", error.line, error.message);
  }
}

}  // namespace tboost
