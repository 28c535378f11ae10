#include <algorithm>

#include "src/text/template/parser.h"

namespace tboost::chat {
namespace {

class StatementParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  NodePtr Parse() {
    NodePtr block = ParseBlock({});
    if (Peek().kind != TokenKind::kEnd) Fail("unexpected \"" + Peek().text + "\"");
    return block;
  }

 private:
  // Statements up to a block tag that starts with one of `ends`, whose begin mark is taken and
  // whose name is next; with no `ends` up to the end.
  NodePtr ParseBlock(std::initializer_list<std::string_view> ends) {
    const Level level(this);
    std::vector<NodePtr> statements;
    while (Peek().kind != TokenKind::kEnd) {
      const Token token = Next();
      if (token.kind == TokenKind::kText) {
        statements.push_back(Make(NodeKind::kText, token.text));
      } else if (token.kind == TokenKind::kVariableBegin) {
        NodePtr output = Make(NodeKind::kOutput);
        NodePtr value = ParseTuple();
        statements.push_back(MakeOf(NodeKind::kOutput, "", std::move(value)));
        statements.back()->line = output->line;
        Expect(TokenKind::kVariableEnd, "\"}}\"");
      } else if (std::find(ends.begin(), ends.end(), Peek().text) != ends.end()) {
        return Make(NodeKind::kBlock, "", std::move(statements));
      } else {
        statements.push_back(ParseStatement());
      }
    }
    if (ends.size() > 0) Fail("expected \"{% " + std::string(*std::prev(ends.end())) + " %}\"");
    return Make(NodeKind::kBlock, "", std::move(statements));
  }

  void EndTag() { Expect(TokenKind::kBlockEnd, "\"%}\""); }
  void EndTag(std::string_view name) {
    if (!TakeName(name)) Fail("expected " + std::string(name) + ", got \"" + Peek().text + "\"");
    EndTag();
  }

  NodePtr ParseStatement() {
    struct Entry {
      std::string_view name;
      NodePtr (StatementParser::*parse)();
    };
    static constexpr Entry kStatements[] = {
        {"if", &StatementParser::ParseIf},
        {"for", &StatementParser::ParseFor},
        {"set", &StatementParser::ParseSet},
        {"macro", &StatementParser::ParseMacro},
        {"with", &StatementParser::ParseWith},
        {"filter", &StatementParser::ParseFilterBlock},
        {"break", &StatementParser::ParseBreak},
        {"continue", &StatementParser::ParseContinue},
        {"generation", &StatementParser::ParseGeneration},
    };
    const int line = Peek().line;
    const std::string name = ExpectName();
    for (const Entry& entry : kStatements) {
      if (entry.name != name) continue;
      NodePtr node = (this->*entry.parse)();
      node->line = line;
      return node;
    }
    throw TemplateError{"statement \"" + name + "\" is not supported", line};
  }

  NodePtr ParseIf() {
    std::vector<NodePtr> kids;
    while (true) {
      kids.push_back(ParseTuple(false));
      EndTag();
      kids.push_back(ParseBlock({"elif", "else", "endif"}));
      if (TakeName("elif")) continue;
      if (TakeName("else")) {
        EndTag();
        kids.push_back(ParseBlock({"endif"}));
      }
      EndTag("endif");
      return Make(NodeKind::kIf, "", std::move(kids));
    }
  }

  NodePtr ParseFor() {
    NodePtr target = ParseTarget();
    if (!TakeName("in")) Fail("expected \"in\", got \"" + Peek().text + "\"");
    NodePtr items = ParseTuple(false);
    NodePtr filter = TakeName("if") ? ParseExpression() : nullptr;
    if (PeekName("recursive")) Fail("recursive loops are not supported");
    EndTag();
    ++loops_;
    NodePtr body = ParseBlock({"else", "endfor"});
    --loops_;
    NodePtr otherwise;
    if (TakeName("else")) {
      EndTag();
      otherwise = ParseBlock({"endfor"});
    }
    EndTag("endfor");
    return MakeOf(NodeKind::kFor, "", std::move(target), std::move(items), std::move(filter),
                  std::move(body), std::move(otherwise));
  }

  NodePtr ParseSet() {
    NodePtr target = ParseTarget();
    if (TakeOperator("=")) {
      NodePtr value = ParseTuple();
      EndTag();
      return MakeOf(NodeKind::kSet, "", std::move(target), std::move(value));
    }
    NodePtr filter;
    while (TakeOperator("|")) filter = ParseFilter(std::move(filter));
    EndTag();
    NodePtr body = ParseBlock({"endset"});
    EndTag("endset");
    return MakeOf(NodeKind::kSetBlock, "", std::move(target), std::move(body), std::move(filter));
  }

  NodePtr ParseMacro() {
    std::string name = ExpectName();
    std::vector<NodePtr> kids(1);
    ExpectOperator("(");
    while (!TakeOperator(")")) {
      std::string parameter = ExpectName();
      NodePtr fallback = TakeOperator("=") ? ParseExpression() : nullptr;
      kids.push_back(MakeOf(NodeKind::kArgument, std::move(parameter), std::move(fallback)));
      if (!PeekOperator(")")) ExpectOperator(",");
    }
    EndTag();
    const int loops = std::exchange(loops_, 0);
    kids[0] = ParseBlock({"endmacro"});
    loops_ = loops;
    EndTag("endmacro");
    return Make(NodeKind::kMacro, std::move(name), std::move(kids));
  }

  NodePtr ParseWith() {
    std::vector<NodePtr> kids(1);
    while (Peek().kind != TokenKind::kBlockEnd) {
      if (kids.size() > 1) ExpectOperator(",");
      NodePtr target = Make(NodeKind::kName, ExpectName());
      ExpectOperator("=");
      kids.push_back(MakeOf(NodeKind::kSet, "", std::move(target), ParseExpression()));
    }
    EndTag();
    kids[0] = ParseBlock({"endwith"});
    EndTag("endwith");
    return Make(NodeKind::kWith, "", std::move(kids));
  }

  NodePtr ParseFilterBlock() {
    NodePtr filter = ParseFilter(nullptr);
    while (TakeOperator("|")) filter = ParseFilter(std::move(filter));
    EndTag();
    NodePtr body = ParseBlock({"endfilter"});
    EndTag("endfilter");
    return MakeOf(NodeKind::kFilterBlock, "", std::move(body), std::move(filter));
  }

  // Marks what the assistant says, for training; prints as what it holds.
  NodePtr ParseGeneration() {
    EndTag();
    NodePtr body = ParseBlock({"endgeneration"});
    EndTag("endgeneration");
    return body;
  }

  NodePtr ParseBreak() { return ParseJump(NodeKind::kBreak); }
  NodePtr ParseContinue() { return ParseJump(NodeKind::kContinue); }
  NodePtr ParseJump(NodeKind kind) {
    if (loops_ == 0) Fail("break or continue outside of a loop");
    EndTag();
    return Make(kind);
  }

  int loops_ = 0;
};

}  // namespace

NodePtr ParseTemplate(std::string_view source) {
  return StatementParser(LexTemplate(source)).Parse();
}

}  // namespace tboost::chat
