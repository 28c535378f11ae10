// Values of a template. Cheap to copy: what is large is shared, and nothing shared ever changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tboost::chat {

// How a template fails, up to RenderChatTemplate. Line 0: filled in by the statement that runs.
struct TemplateError {
  std::string message;
  int line = 0;
};

class Value;
struct ListData;
struct DictData;
struct LoopData;
struct Callable;

struct None {};
struct Undefined {
  std::shared_ptr<const std::string> name;
};
// A namespace() object: the one thing that changes. Owned by the interpreter, so that one that
// holds itself is no leak.
struct Namespace {
  std::vector<std::pair<std::string, Value>> members;
};

class Value {
 public:
  using Text = std::shared_ptr<const std::string>;
  using List = std::shared_ptr<const ListData>;
  using Dict = std::shared_ptr<const DictData>;
  using Loop = std::shared_ptr<const LoopData>;
  using Function = std::shared_ptr<const Callable>;

  Value() : data_(Undefined{}) {}
  template <class T>
  requires std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
      std::is_same_v<T, None> || std::is_same_v<T, Undefined> || std::is_same_v<T, List> ||
      std::is_same_v<T, Dict> || std::is_same_v<T, Loop> || std::is_same_v<T, Function> ||
      std::is_same_v<T, Namespace*>
      Value(T data) : data_(std::move(data)) {}  // NOLINT: implicit by design
  Value(std::string text)
      : data_(std::make_shared<const std::string>(std::move(text))) {}  // NOLINT
  // Throws where the nesting is too deep, or what it holds, counted as often as it stands there,
  // too much.
  static Value MakeList(std::vector<Value> items, bool tuple = false);
  static Value MakeDict(std::vector<std::pair<Value, Value>> items);
  static Value UndefinedName(std::string name);

  template <class T>
  const T* As() const {
    return std::get_if<T>(&data_);
  }
  template <class T>
  bool Is() const {
    return std::holds_alternative<T>(data_);
  }
  const std::string* text() const;  // null where it is no string
  const ListData* list() const;     // list or tuple
  const DictData* dict() const;
  bool is_undefined() const { return Is<Undefined>(); }
  bool is_none() const { return Is<None>(); }
  bool is_number() const { return Is<bool>() || Is<int64_t>() || Is<double>(); }
  bool is_float() const { return Is<double>(); }
  int64_t integer() const;  // of a bool or int
  double real() const;      // of any number
  bool Truth() const;
  std::string_view TypeName() const;  // as Python calls it
  int depth() const;                  // of nested lists and dicts
  uint64_t weight() const;            // the work of printing or comparing it

 private:
  std::variant<Undefined, None, bool, int64_t, double, Text, List, Dict, Loop, Function, Namespace*>
      data_;
};

struct ListData {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 1;
  uint64_t weight = 1;
};

struct DictData {
  std::vector<std::pair<Value, Value>> items;  // in order of insertion
  int depth = 1;
  uint64_t weight = 1;
  const Value* Find(const Value& key) const;
  const Value* FindText(std::string_view key) const;
};

// Where a for loop stands.
struct LoopData {
  Value::List items;
  int64_t index = 0;
};

// Equality as in Python: numbers by value, lists and dicts by content.
bool Equal(const Value& a, const Value& b);
// Order of numbers, strings and lists; throws where there is none.
bool Less(const Value& a, const Value& b);

// Text as {{ }} prints it, and as it looks within a printed list.
std::string Print(const Value& value);
std::string Represent(const Value& value);
// JSON as json.dumps writes it: on one line where `indent` is negative. Throws for what JSON lacks.
std::string ToJson(const Value& value, int64_t indent, bool sort_keys);

}  // namespace tboost::chat
