#include "src/text/template/chat_template.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "src/text/tokenizer/test_models.h"

namespace tboost {
namespace {

OrderedJson Golden() {
  const auto text = ReadFile(GoldenPath("templates_golden.json"));
  return text.ok() ? OrderedJson::parse(*text, nullptr, false) : OrderedJson();
}

TEST(ChatTemplate, RendersAsJinja2) {
  setenv("TZ", "UTC", 1);
  const OrderedJson golden = Golden();
  ASSERT_TRUE(golden.is_object());
  size_t compared = 0;
  for (const OrderedJson& entry : golden["templates"]) {
    for (const auto& [name, want] : entry["rendered"].items()) {
      SCOPED_TRACE(entry["name"].get<std::string>() + " on " + name);
      const auto got =
          RenderChatTemplate(entry["template"].get<std::string>(), golden["contexts"][name],
                             {.now = golden["now"].get<int64_t>()});
      ++compared;
      if (want.is_string()) {
        ASSERT_TRUE(got.ok()) << got.status().message();
        EXPECT_EQ(*got, want.get<std::string>());
      } else {
        ASSERT_FALSE(got.ok()) << *got;
        const int64_t line = want["error"];
        const std::string& message = got.status().message();
        EXPECT_TRUE(message.starts_with(line > 0 ? fmt::format("chat template, line {}: ", line)
                                                 : "chat template, line "))
            << message;
        EXPECT_FALSE(message.starts_with("chat template, line 0")) << message;
      }
    }
  }
  EXPECT_GT(compared, 150u);
}

TEST(ChatTemplate, RemaindersHaveTheSignOfTheDivisor) {
  const auto got = RenderChatTemplate(
      "{{ 7 % -3 }} {{ -7 % 3 }} {{ -6 % 3 }} {{ (-9223372036854775807 - 1) % 3 }}",
      OrderedJson::object());
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, "-2 2 0 1");
}

std::string ErrorOf(std::string_view text) {
  const auto got = RenderChatTemplate(text, OrderedJson::object());
  return got.ok() ? "no error" : got.status().message();
}

TEST(ChatTemplate, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("a\n{{ raise_exception('no way') }}"), "chat template, line 2: no way");
  EXPECT_EQ(ErrorOf("a\n\n{{ x.y }}"), "chat template, line 3: \"x\" is undefined");
  EXPECT_EQ(ErrorOf("{% for i in [1] %}\n{{ 1 + 'a' }}{% endfor %}"),
            "chat template, line 2: cannot use + on int and str");
  EXPECT_EQ(ErrorOf("\n{% include 'x' %}"),
            "chat template, line 2: statement \"include\" is not supported");
  EXPECT_EQ(ErrorOf("{% if a %}"), "chat template, line 1: expected \"{% endif %}\"");
  EXPECT_EQ(ErrorOf("{{ 9223372036854775807 + 1 }}"), "chat template, line 1: integer overflow");
  EXPECT_EQ(ErrorOf("{{ 1 // 0 }}"), "chat template, line 1: division by zero");
  EXPECT_EQ(ErrorOf("{% set x.y = 1 %}"),
            "chat template, line 1: only a namespace's attributes can be set");
}

// Each of these would run for ever or eat all memory.
TEST(ChatTemplate, HostileTemplatesEndWithAnError) {
  const std::string nested(5000, '(');
  const std::string sum = "{{ 1" + std::string(20000, '+') + "1 }}";
  std::string chain = "{{ 1";
  for (int i = 0; i < 5000; ++i) chain += "+1";
  const std::string templates[] = {
      "{% for i in range(1000000000) %}{{ i }}{% endfor %}",
      "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{{ 'a' * 100000000000 }}",
      "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% "
      "endfor %}",
      "{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
      "{% set n = namespace(s=[1]) %}{% for i in range(9999) %}{% set n.s = [n.s] %}{% endfor %}",
      "{% set n = namespace(s=[1]) %}{% for i in range(50) %}{% set n.s = [n.s, n.s] %}{% endfor "
      "%}{{ n.s }}",
      "{% set s = 'ab' * 100000 %}{% for i in range(100000) %}{{ s.count(s) }}{% endfor %}",
      "{{ " + nested,
      "{{ " + nested + "1",
      sum,
      chain + " }}",
      "{{ 'a' | indent(100000000) }}",
      "{{ [1] | tojson(indent=1000000000) }}",
  };
  for (const std::string& text : templates) {
    const auto got =
        RenderChatTemplate(text, OrderedJson::object(), {.max_cost = uint64_t{1} << 25, .now = {}});
    EXPECT_FALSE(got.ok()) << text.substr(0, 100);
  }
}

TEST(ChatTemplate, NamespaceThatHoldsItselfIsNoLeak) {
  const auto got = RenderChatTemplate(
      "{% set n = namespace() %}{% set n.n = n %}{{ n.n.n is defined }}", OrderedJson::object());
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, "True");
}

TEST(ChatTemplate, BytesThatAreNoUtf8) {
  const auto got = RenderChatTemplate("\xFF{{ x }}", OrderedJson{{"x", "a\xC3"}});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, "\uFFFDa\uFFFD");
}

TEST(ChatTemplate, ContextsThatAreNone) {
  EXPECT_FALSE(RenderChatTemplate("", OrderedJson::array()).ok());
  OrderedJson deep = 1;
  for (int i = 0; i < 100; ++i) deep = OrderedJson::array({deep});
  EXPECT_FALSE(RenderChatTemplate("", OrderedJson{{"x", deep}}).ok());
}

}  // namespace
}  // namespace tboost
