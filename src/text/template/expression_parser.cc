#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/text/template/parser.h"

namespace tboost::chat {

void ExpressionParser::Fail(std::string message) const {
  throw TemplateError{std::move(message), Peek().line};
}

bool ExpressionParser::TakeOperator(std::string_view op) {
  if (!PeekOperator(op)) return false;
  Next();
  return true;
}

bool ExpressionParser::TakeName(std::string_view name) {
  if (!PeekName(name)) return false;
  Next();
  return true;
}

void ExpressionParser::ExpectOperator(std::string_view op) {
  if (!TakeOperator(op)) Fail("expected \"" + std::string(op) + "\", got \"" + Peek().text + "\"");
}

std::string ExpressionParser::ExpectName() {
  if (Peek().kind != TokenKind::kName) Fail("expected a name, got \"" + Peek().text + "\"");
  return Next().text;
}

void ExpressionParser::Expect(TokenKind kind, std::string_view what) {
  if (Peek().kind != kind) Fail("expected " + std::string(what) + ", got \"" + Peek().text + "\"");
  Next();
}

NodePtr ExpressionParser::Make(NodeKind kind, std::string name) const {
  return Make(kind, std::move(name), {});
}

NodePtr ExpressionParser::Make(NodeKind kind, std::string name, std::vector<NodePtr> kids) const {
  constexpr int kMaxDepth = 400;
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->line = Peek().line;
  node->name = std::move(name);
  for (const NodePtr& kid : kids) {
    if (kid) node->depth = std::max(node->depth, kid->depth + 1);
  }
  if (node->depth > kMaxDepth) Fail("nests too deeply");
  node->kids = std::move(kids);
  return node;
}

NodePtr ExpressionParser::ParseTuple(bool with_condition) {
  NodePtr first = with_condition ? ParseExpression() : ParseOr();
  if (!PeekOperator(",")) return first;
  std::vector<NodePtr> items;
  items.push_back(std::move(first));
  while (TakeOperator(",")) {
    const TokenKind kind = Peek().kind;
    const bool end =
        kind == TokenKind::kBlockEnd || kind == TokenKind::kVariableEnd || PeekOperator(")");
    if (end) break;
    items.push_back(with_condition ? ParseExpression() : ParseOr());
  }
  return Make(NodeKind::kTuple, "", std::move(items));
}

NodePtr ExpressionParser::ParseExpression() {
  const Level level(this);
  NodePtr value = ParseOr();
  while (TakeName("if")) {
    NodePtr condition = ParseOr();
    NodePtr other = TakeName("else") ? ParseExpression() : nullptr;
    value = MakeOf(NodeKind::kConditional, "", std::move(condition), std::move(value),
                   std::move(other));
  }
  return value;
}

NodePtr ExpressionParser::ParseOr() {
  NodePtr left = ParseAnd();
  while (TakeName("or")) left = MakeOf(NodeKind::kOr, "", std::move(left), ParseAnd());
  return left;
}

NodePtr ExpressionParser::ParseAnd() {
  NodePtr left = ParseNot();
  while (TakeName("and")) left = MakeOf(NodeKind::kAnd, "", std::move(left), ParseNot());
  return left;
}

NodePtr ExpressionParser::ParseNot() {
  const Level level(this);
  if (TakeName("not")) return MakeOf(NodeKind::kUnary, "not", ParseNot());
  return ParseCompare();
}

NodePtr ExpressionParser::ParseCompare() {
  std::vector<NodePtr> kids;
  kids.push_back(ParseSum());
  while (true) {
    std::string op;
    for (const std::string_view known : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (PeekOperator(known)) op = known;
    }
    if (PeekName("in")) op = "in";
    if (PeekName("not") && Peek(1).kind == TokenKind::kName && Peek(1).text == "in") {
      Next();
      op = "not in";
    }
    if (op.empty()) break;
    Next();
    kids.push_back(MakeOf(NodeKind::kBinary, op, NodePtr(), ParseSum()));
  }
  if (kids.size() == 1) return std::move(kids.front());
  return Make(NodeKind::kCompare, "", std::move(kids));
}

NodePtr ExpressionParser::ParseBinary(std::initializer_list<std::string_view> ops,
                                      NodePtr (ExpressionParser::*next)()) {
  NodePtr left = (this->*next)();
  while (Peek().kind == TokenKind::kOperator &&
         std::find(ops.begin(), ops.end(), Peek().text) != ops.end()) {
    const std::string op = Next().text;
    left = MakeOf(NodeKind::kBinary, op, std::move(left), (this->*next)());
  }
  return left;
}

NodePtr ExpressionParser::ParseSum() {
  return ParseBinary({"+", "-"}, &ExpressionParser::ParseConcat);
}
NodePtr ExpressionParser::ParseConcat() {
  return ParseBinary({"~"}, &ExpressionParser::ParseProduct);
}
NodePtr ExpressionParser::ParseProduct() {
  return ParseBinary({"*", "/", "//", "%"}, &ExpressionParser::ParsePower);
}
NodePtr ExpressionParser::ParsePower() {
  return ParseBinary({"**"}, &ExpressionParser::ParseUnary);
}

NodePtr ExpressionParser::ParseSigned(bool with_filters) {
  const Level level(this);
  NodePtr value;
  if (PeekOperator("-") || PeekOperator("+")) {
    const std::string op = Next().text;
    value = MakeOf(NodeKind::kUnary, op, ParseSigned(false));
  } else {
    value = ParsePrimary();
  }
  value = ParsePostfix(std::move(value));
  return with_filters ? ParseFilters(std::move(value)) : std::move(value);
}

NodePtr ExpressionParser::ParsePrimary() {
  const Token token = Next();
  NodePtr node = Make(NodeKind::kConstant);
  node->line = token.line;
  switch (token.kind) {
    case TokenKind::kName:
      if (token.text == "true" || token.text == "True") {
        node->value = true;
      } else if (token.text == "false" || token.text == "False") {
        node->value = false;
      } else if (token.text == "none" || token.text == "None") {
        node->value = None();
      } else {
        node->kind = NodeKind::kName;
        node->name = token.text;
      }
      return node;
    case TokenKind::kString: {
      std::string text = token.text;
      while (Peek().kind == TokenKind::kString) text += Next().text;
      node->value = std::move(text);
      return node;
    }
    case TokenKind::kInteger:
      errno = 0;
      node->value = static_cast<int64_t>(std::strtoll(token.text.c_str(), nullptr, 10));
      if (errno == ERANGE) Fail("number " + token.text + " is too large");
      return node;
    case TokenKind::kFloat:
      node->value = std::strtod(token.text.c_str(), nullptr);
      return node;
    default:
      break;
  }
  if (token.kind == TokenKind::kOperator && token.text == "{") return ParseDict();
  if (token.kind == TokenKind::kOperator && token.text == "[") {
    ParseItems("]", &node->kids);
    return Make(NodeKind::kList, "", std::move(node->kids));
  }
  if (token.kind == TokenKind::kOperator && token.text == "(") {
    if (TakeOperator(")")) return Make(NodeKind::kTuple);
    NodePtr inner = ParseTuple();
    ExpectOperator(")");
    return inner;
  }
  throw TemplateError{"unexpected \"" + token.text + "\"", token.line};
}

void ExpressionParser::ParseItems(std::string_view close, std::vector<NodePtr>* kids) {
  while (!TakeOperator(close)) {
    kids->push_back(ParseExpression());
    if (!PeekOperator(close)) ExpectOperator(",");
  }
}

NodePtr ExpressionParser::ParseDict() {
  std::vector<NodePtr> kids;
  while (!TakeOperator("}")) {
    kids.push_back(ParseExpression());
    ExpectOperator(":");
    kids.push_back(ParseExpression());
    if (!PeekOperator("}")) ExpectOperator(",");
  }
  return Make(NodeKind::kDict, "", std::move(kids));
}

NodePtr ExpressionParser::ParsePostfix(NodePtr object) {
  while (true) {
    if (TakeOperator(".")) {
      if (Peek().kind == TokenKind::kInteger) {
        NodePtr index = ParsePrimary();
        object = MakeOf(NodeKind::kItem, "", std::move(object), std::move(index));
        continue;
      }
      std::string name = ExpectName();
      object = MakeOf(NodeKind::kAttribute, std::move(name), std::move(object));
    } else if (TakeOperator("[")) {
      object = ParseSubscript(std::move(object));
    } else if (TakeOperator("(")) {
      std::vector<NodePtr> kids;
      kids.push_back(std::move(object));
      ParseArguments(&kids);
      object = Make(NodeKind::kCall, "", std::move(kids));
    } else {
      return object;
    }
  }
}

NodePtr ExpressionParser::ParseSubscript(NodePtr object) {
  NodePtr parts[3];
  size_t part = 0;
  bool slice = false;
  while (!TakeOperator("]")) {
    if (TakeOperator(":")) {
      slice = true;
      if (++part > 2) Fail("a slice has at most three parts");
    } else if (parts[part]) {
      Fail("expected \"]\", got \"" + Peek().text + "\"");
    } else {
      parts[part] = ParseExpression();
    }
  }
  if (slice) {
    return MakeOf(NodeKind::kSlice, "", std::move(object), std::move(parts[0]), std::move(parts[1]),
                  std::move(parts[2]));
  }
  if (!parts[0]) Fail("expected an index");
  return MakeOf(NodeKind::kItem, "", std::move(object), std::move(parts[0]));
}

void ExpressionParser::ParseArguments(std::vector<NodePtr>* kids) {
  while (!TakeOperator(")")) {
    if (PeekOperator("*") || PeekOperator("**")) Fail("arguments with * are not supported");
    std::string name;
    if (Peek().kind == TokenKind::kName && Peek(1).kind == TokenKind::kOperator &&
        Peek(1).text == "=") {
      name = Next().text;
      Next();
    }
    kids->push_back(MakeOf(NodeKind::kArgument, std::move(name), ParseExpression()));
    if (!PeekOperator(")")) ExpectOperator(",");
  }
}

NodePtr ExpressionParser::ParseFilters(NodePtr operand) {
  while (true) {
    if (TakeOperator("|")) {
      operand = ParseFilter(std::move(operand));
    } else if (TakeName("is")) {
      operand = ParseTest(std::move(operand));
    } else if (PeekOperator("(")) {
      operand = ParsePostfix(std::move(operand));
    } else {
      return operand;
    }
  }
}

NodePtr ExpressionParser::ParseFilter(NodePtr operand) {
  std::string name = ExpectName();
  if (FindFilter(name) == nullptr) Fail("no filter named \"" + name + "\"");
  std::vector<NodePtr> kids;
  kids.push_back(std::move(operand));
  if (TakeOperator("(")) ParseArguments(&kids);
  return Make(NodeKind::kFilter, std::move(name), std::move(kids));
}

NodePtr ExpressionParser::ParseTest(NodePtr operand) {
  const bool negated = TakeName("not");
  std::string name = ExpectName();
  if (FindTest(name) == nullptr) Fail("no test named \"" + name + "\"");
  std::vector<NodePtr> kids;
  kids.push_back(std::move(operand));
  const TokenKind kind = Peek().kind;
  const bool keyword = PeekName("else") || PeekName("or") || PeekName("and") || PeekName("if") ||
                       PeekName("is") || PeekName("in") || PeekName("not");
  if (TakeOperator("(")) {
    ParseArguments(&kids);
  } else if ((kind == TokenKind::kName && !keyword) || kind == TokenKind::kString ||
             kind == TokenKind::kInteger || kind == TokenKind::kFloat || PeekOperator("[") ||
             PeekOperator("{")) {
    kids.push_back(MakeOf(NodeKind::kArgument, "", ParsePostfix(ParsePrimary())));
  }
  NodePtr test = Make(NodeKind::kTest, std::move(name), std::move(kids));
  return negated ? MakeOf(NodeKind::kUnary, "not", std::move(test)) : std::move(test);
}

NodePtr ExpressionParser::ParseTarget() {
  const Level level(this);
  std::vector<NodePtr> names;
  do {
    if (names.size() > 0 && Peek().kind != TokenKind::kName && !PeekOperator("(")) break;
    if (TakeOperator("(")) {
      names.push_back(ParseTarget());
      ExpectOperator(")");
    } else {
      NodePtr name = Make(NodeKind::kName, ExpectName());
      if (TakeOperator(".")) {
        std::string member = ExpectName();
        name = MakeOf(NodeKind::kAttribute, std::move(member), std::move(name));
      }
      names.push_back(std::move(name));
    }
  } while (TakeOperator(","));
  if (names.size() == 1) return std::move(names.front());
  return Make(NodeKind::kTuple, "", std::move(names));
}

}  // namespace tboost::chat
