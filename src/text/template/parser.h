// The parser: expressions here, statements on top (statement_parser.cc).
#pragma once

#include <initializer_list>

#include "src/text/template/ast.h"
#include "src/text/template/lexer.h"

namespace tboost::chat {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  // Bounds the recursion of the parser.
  class Level {
   public:
    explicit Level(ExpressionParser* parser) : parser_(parser) {
      constexpr int kMaxLevel = 200;
      if (++parser_->level_ > kMaxLevel) parser_->Fail("nests too deeply");
    }
    ~Level() { --parser_->level_; }

   private:
    ExpressionParser* parser_;
  };

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token Next() {
    Token token = Peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool PeekOperator(std::string_view op) const {
    return Peek().kind == TokenKind::kOperator && Peek().text == op;
  }
  bool PeekName(std::string_view name) const {
    return Peek().kind == TokenKind::kName && Peek().text == name;
  }
  bool TakeOperator(std::string_view op);
  bool TakeName(std::string_view name);
  void ExpectOperator(std::string_view op);
  std::string ExpectName();
  void Expect(TokenKind kind, std::string_view what);
  [[noreturn]] void Fail(std::string message) const;
  NodePtr Make(NodeKind kind, std::string name = {}) const;
  NodePtr Make(NodeKind kind, std::string name, std::vector<NodePtr> kids) const;
  // The same on the kids given one by one.
  template <class... Kids>
  NodePtr MakeOf(NodeKind kind, std::string name, Kids... given) const {
    std::vector<NodePtr> kids;
    (kids.push_back(std::move(given)), ...);
    return Make(kind, std::move(name), std::move(kids));
  }

  // One expression, or several between commas as a tuple.
  NodePtr ParseTuple(bool with_condition = true);
  NodePtr ParseExpression();  // with `a if b else c`
  NodePtr ParseOr();
  // The filters, tests and calls that follow `operand`.
  NodePtr ParseFilters(NodePtr operand);
  NodePtr ParseFilter(NodePtr operand);  // behind "|"
  NodePtr ParseTarget();                 // what for and set assign to

 private:
  // A left-associative level: `ops`, on operands that `next` parses.
  NodePtr ParseBinary(std::initializer_list<std::string_view> ops,
                      NodePtr (ExpressionParser::*next)());
  NodePtr ParseAnd();
  NodePtr ParseNot();
  NodePtr ParseCompare();
  NodePtr ParseSum();
  NodePtr ParseConcat();
  NodePtr ParseProduct();
  NodePtr ParsePower();
  NodePtr ParseUnary() { return ParseSigned(true); }
  NodePtr ParseSigned(bool with_filters);
  NodePtr ParsePrimary();
  NodePtr ParseDict();
  NodePtr ParsePostfix(NodePtr object);
  NodePtr ParseSubscript(NodePtr object);
  NodePtr ParseTest(NodePtr operand);
  void ParseArguments(std::vector<NodePtr>* kids);  // behind "("
  void ParseItems(std::string_view close, std::vector<NodePtr>* kids);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int level_ = 0;
};

}  // namespace tboost::chat
