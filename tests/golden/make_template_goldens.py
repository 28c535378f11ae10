"""Makes templates_golden.json: templates x conversations as jinja2 renders them, set up as
transformers' apply_chat_template sets it up.

    python tests/golden/make_template_goldens.py [MODEL.gguf]

The templates are this project's own, to use every construct; with a GGUF file its template is added.
"""

import json
import pathlib
import sys
from datetime import datetime, timezone

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
NOW = 1700000000

TEMPLATES = {
    "plain": "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m['role'] }}>\n{% endfor %}",
    "generation_prompt": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}U: {{ m['content'] | trim }}"
                         "{% elif m.role == 'system' %}S: {{ m.content }}{% else %}A: {{ m.content }}{{ eos_token }}{% endif %}\n"
                         "{% endfor %}{% if add_generation_prompt %}A:{% endif %}",
    "whitespace": "  {%- if true -%}  \n  a  \n  {%- endif %}\n\n  {% if true %}\n    b\n  {% endif %}\nc {{- ' d ' -}} e\n"
                  "  {# note #}\nf{#- x -#}  g\n\t{%+ if true %}h{% endif +%}\ni\n",
    "lstrip": "x\n    {% if true %}  y  {% endif %}  \n   {{ 'z' }}\n a {% if true %}\n b\n{% endif %}end\n\n",
    "raw": "{% raw %}{{ not }} {% evaluated %}{% endraw %}|{%- raw -%}  kept  {%- endraw -%}  |",
    "loop": "{% for m in messages %}{{ loop.index }}/{{ loop.length }} {{ loop.index0 }} {{ loop.revindex }} {{ loop.revindex0 }}"
            " {{ loop.first }} {{ loop.last }} {{ loop.cycle('odd', 'even') }}"
            " {{ loop.previtem.role if loop.previtem is defined else '-' }}"
            " {{ loop.nextitem.role if loop.nextitem is defined else '-' }}\n{% else %}none\n{% endfor %}",
    "loop_filter": "{% for m in messages if m.role != 'system' %}{{ loop.index }}:{{ m.role }} {% else %}nobody{% endfor %}"
                   "{% for k, v in {'a': 1, 'b': [2, 3]}.items() %}{{ k }}={{ v }};{% endfor %}"
                   "{% for c in 'häß' %}[{{ c }}]{% endfor %}{% for x in (1, 2, 3) %}{{ x }}{% endfor %}",
    "controls": "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i > 5 %}{% break %}{% endif %}{{ i }},{% endfor %}",
    "scope": "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}"
             "{% set ns = namespace(x=1, names=[]) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}"
             "{% set ns.names = ns.names + ['n' ~ i] %}{% endfor %} {{ ns.x }} {{ ns.names | join('+') }}"
             "{% if true %}{% set x = 5 %}{% endif %} {{ x }}{% with y = x, z = 2 %} {{ y * z }}{% endwith %} {{ y is defined }}",
    "set_block": "{% set text %}\n  two\n  lines\n{% endset %}[{{ text }}]{% set up | upper %}abc{% endset %}{{ up }}"
                 "{% set a, b = 1, 'two' %}{{ a }}{{ b }}{% filter upper | replace('A', 'o') %}banana{% endfilter %}",
    "macro": "{% macro line(role, text='none', end='\\n') %}<{{ role }}>{{ text }}{{ end }}{% endmacro %}"
             "{% macro deep(n) %}{{ n }}{% if n > 0 %},{{ deep(n - 1) }}{% endif %}{% endmacro %}"
             "{% for m in messages %}{{ line(m.role, m.content) }}{% endfor %}{{ line('x') }}{{ line(end='!', role='y') }}"
             "{{ line() }}{{ deep(4) }}{{ line('a') | upper }}",
    "arithmetic": "{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 1.5 + 1 }}"
                  " {{ 10 / 4 }} {{ 3.0 }} {{ 1e20 }} {{ 0.1 + 0.2 }} {{ 1e-5 }} {{ 'a' ~ 1 ~ none ~ true }} {{ 'ab' * 3 }} {{ [1] + [2] }}"
                  " {{ -3 | abs }} {{ - 2 }} {{ 7.5 // 2 }} {{ 1_000 }} {{ true + 1 }} {{ 100000000000000000.0 }} {{ 123456789.125 }}",
    "logic": "{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ 'a' != 'b' }} {{ 'a' in 'cat' }} {{ 4 not in [1, 2] }} {{ not true }}"
             " {{ none or 'x' }} {{ '' and 'y' }} {{ 'a' if false }}| {{ 'a' if false else 'b' }} {{ 'k' in {'k': 1} }} {{ true and not false }}"
             " {{ [1, 2] == [1, 2] }} {{ (1, 2) == [1, 2] }} {{ 'a' < 'b' }} {{ [] or {} or 0 }} {{ undefined_name }}|{{ 2 <= 2 >= 1 }}",
    "tests": "{% set n = none %}{{ n is none }} {{ q is defined }} {{ q is undefined }} {{ n is not none }} {{ 'a' is string }} {{ 1 is number }}"
             " {{ true is boolean }} {{ true is number }} {{ 1 is integer }} {{ 1.0 is float }} {{ {} is mapping }} {{ [] is sequence }}"
             " {{ 'a' is iterable }} {{ 5 is iterable }} {{ 3 is odd }} {{ 3 is even }} {{ 6 is divisibleby 3 }} {{ 6 is divisibleby(4) }}"
             " {{ 1 is equalto 1 }} {{ 1 is eq 2 }} {{ 1 is ne 2 }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ 'a' is in ['a'] }}"
             " {{ 'A' is upper }} {{ 'a1' is lower }} {{ 2 is gt 1 }} {{ 2 is lessthan 1 }} {{ range is callable }} {{ true is sameas true }}",
    "filters": "{{ ' x ' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 'abc' | length }}|{{ 'aé' | upper }}|{{ 'AÉ' | lower }}|{{ 'hello wORLD-foo (bar' | title }}"
               "|{{ 'hELLO' | capitalize }}|{{ ['a', 1, none] | join(', ') }}|{{ q | default('d') }}|{{ '' | default('e', true) }}|{{ '' | default('e') }}"
               "|{{ [1, 2, 3] | first }}|{{ [1, 2, 3] | last }}|{{ 'abc' | list }}|{{ {'a': 1} | items | list }}|{{ 'aXbX' | replace('X', '-') }}"
               "|{{ 'aXbX' | replace('X', '-', 1) }}|{{ '12' | int + 1 }}|{{ 'x' | int(7) }}|{{ '1.5' | float }}|{{ 3.7 | int }}|{{ 5 | string }}"
               "|{{ [3, 1, 2] | sort }}|{{ ['b', 'A', 'c'] | sort }}|{{ ['b', 'A', 'c'] | sort(case_sensitive=true) }}|{{ [3, 1] | sort(reverse=true) }}"
               "|{{ [1, 2, 3] | sum }}|{{ [1, 5, 3] | max }}|{{ [4, 2] | min }}|{{ [1, 2, 1, 'a', 'A'] | unique | list }}|{{ [1, 2] | reverse | list }}"
               "|{{ 'abc' | reverse }}|{{ 2.567 | round(2) }}|{{ 2.5 | round }}|{{ 2.1 | round(method='ceil') }}|{{ '<a>' | safe }}|{{ '<a & \"b\">' | e }}",
    "indent": "{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(width=1, blank=true) }}|{{ 'a\nb' | indent('> ') }}",
    "map_select": "{{ messages | map(attribute='role') | join(',') }}|{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list | length }}"
                  "|{{ messages | rejectattr('role', 'in', ['user', 'system']) | list | length }}|{{ messages | selectattr('content') | list | length }}"
                  "|{{ [1, 2, 3, 4] | select('odd') | list }}|{{ [1, 2, 3, 4] | reject('gt', 2) | list }}|{{ ['a', 'b'] | map('upper') | list }}"
                  "|{{ [0, 1, '', 'x'] | select | list }}|{{ [{'a': {'b': 1}}, {}] | map(attribute='a', default='z') | list }}"
                  "|{{ [{'v': 2}, {'v': 1}] | sort(attribute='v') }}|{{ [{'v': 2}, {'v': 5}] | sum(attribute='v') }}|{{ {'b': 1, 'A': 2} | dictsort }}"
                  "|{{ {'b': 1, 'A': 2} | dictsort(by='value', reverse=true) }}|{{ [{'v': 'x'}] | map(attribute='v') | first }}",
    "json": "{{ messages | tojson }}\n{{ {'a': [1, 2.5, none, true, 'ü\"\\\\\n\t<>&'], 'b': {}, 'c': []} | tojson }}\n"
            "{{ {'b': [1, {'x': 2}], 'a': []} | tojson(indent=2) }}\n{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}{{ 'é' | tojson }}{{ '\\x01' | tojson }}",
    "repr": "{{ [1, 'a', \"it's\", none, true, 1.0, {'k': 'v\n'}, (1,), (1, 2), 'q\"\\'', 'é\\x00', []] }}",
    "strings": "{{ '  a b  '.strip() }}|{{ '  a'.lstrip() }}|{{ 'a  '.rstrip() }}|{{ 'xay'.strip('xy') }}|{{ 'a,b,,c'.split(',') }}|{{ ' a  b '.split() }}"
               "|{{ 'a,b,c'.split(',', 1) }}|{{ 'a.b.c'.rsplit('.', 1) }}|{{ 'abc'.startswith('ab') }}|{{ 'abc'.endswith(('x', 'c')) }}"
               "|{{ 'aba'.replace('a', 'x') }}|{{ 'aba'.replace('a', 'x', 1) }}|{{ 'aß'.upper() }}|{{ 'AB'.lower() }}|{{ \"it's here\".title() }}"
               "|{{ 'héllo'.find('l') }}|{{ 'abc'.find('z') }}|{{ '-'.join(['a', 'b']) }}|{{ 'abcabc'.count('bc') }}|{{ 'a\nb\n'.splitlines() }}"
               "|{{ 'aBC'.capitalize() }}|{{ '12'.isdigit() }}|{{ 'a' 'b' }}|{{ 'tab\\tnl\\nq\\'u\\u00e9' }}|{{ 'x'.split('</think>')[-1].lstrip('\\n') }}",
    "slices": "{{ 'abcdef'[1:4] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-2:] }} {{ 'abcdef'[::2] }} {{ [1, 2, 3, 4][1:] }} {{ [1, 2, 3][:-1] }} {{ 'héé'[1] }}"
              " {{ [1, 2, 3][-1] }} {{ 'abc'[10] is defined }} {{ [1, 2][5] is undefined }} {{ (1, 2, 3)[0:2] }} {{ [1, 2, 3, 4, 5][3:0:-1] }} {{ [[1, 2]][0][1] }}"
              " {{ messages[1:] | length }} {{ messages[::-1] | map(attribute='role') | join }} {{ messages[-1].role }}",
    "dicts": "{% set d = {'a': 1, 'b': {'c': [1, 2]}, 1: 'one'} %}{{ d.a }} {{ d['b'].c[1] }} {{ d.b['c'] }} {{ d[1] }} {{ d.get('z') }} {{ d.get('z', 9) }}"
             " {{ d.keys() | list }} {{ d.values() | list }} {{ d.items() | list }} {{ 'a' in d }} {{ d.missing is defined }} {{ d | length }}"
             " {{ dict(x=1, y='two') }} {{ {'items': 5}['items'] }} {{ {'a': 1, 'a': 2} }} {{ d }}",
    "tools": "{% if tools %}{% for tool in tools %}{{ tool.function.name }}: {{ tool | tojson(indent=4) }}\n"
             "{% for name, spec in tool.function.parameters.properties.items() %}- {{ name }} ({{ spec.type }}){% if name in tool.function.parameters.required %}*{% endif %}\n"
             "{% endfor %}{% endfor %}{% endif %}",
    "alternate": "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{{ m.role }} {% endfor %}",
    "system_first": "{%- if messages[0]['role'] == 'system' %}\n{%- set system = messages[0]['content'] %}\n{%- set rest = messages[1:] %}\n{%- else %}\n"
                    "{%- set system = 'default' %}\n{%- set rest = messages %}\n{%- endif %}\n[{{ system }}]\n{%- for m in rest %}\n({{ m.role }}: {{ m.content }})\n{%- endfor %}",
    "content_parts": "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% elif m.content is iterable and m.content is not none %}"
                     "{% for part in m.content %}{{ part.text if part.type == 'text' else '<' ~ part.type ~ '>' }}{% endfor %}{% endif %};{% endfor %}",
    "null_slice": "{% for m in messages %}{{ m.content[:3] }}{% endfor %}",
    "date": "{{ strftime_now('%d %b %Y') }}",
    "generation": "{% for m in messages %}{% generation %}{{ m.role }}{% endgeneration %},{% endfor %}",
    "undefined_attribute": "line\n{{ nothing.at.all }}",
    "syntax_error": "ok\n{% if %}\n",
    "unknown_filter": "a\n\n{{ 1 | frobnicate }}",
    "newlines": "a\r\nb\rc\n{% if true %}\r\nd{% endif %}\n\n",
}

CONTEXTS = {
    "chat": {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": " Hello, wörld! 😀\n"},
                          {"role": "assistant", "content": "Hi.</think>\nthere"}, {"role": "user", "content": "'q' \"d\" <b> & \\"}],
             "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True},
    "two_users": {"messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
                  "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": False},
    "null_content": {"messages": [{"role": "user", "content": "call it"}, {"role": "assistant", "content": None,
                     "tool_calls": [{"function": {"name": "f", "arguments": {"z": 1, "a": [True, None, 0.5]}}}]}],
                     "tools": [{"type": "function", "function": {"name": "f", "description": "does",
                                "parameters": {"type": "object", "properties": {"z": {"type": "integer"}, "a": {"type": "array"}},
                                               "required": ["z"]}}}], "add_generation_prompt": True},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image"}]}]},
    "empty": {"messages": []},
}


class Generation(jinja2.ext.Extension):
    """The block that marks what the assistant says."""
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: datetime.fromtimestamp(NOW, timezone.utc).strftime(f)
    return env


def render(text, context):
    """The text, or {"error": line} where rendering fails (0: no line known)."""
    try:
        return environment().from_string(text).render(**context)
    except jinja2.exceptions.TemplateSyntaxError as e:
        return {"error": e.lineno}
    except Exception:  # what the template raises, and Python's own TypeErrors
        return {"error": 0}


def main():
    templates = dict(TEMPLATES)
    if len(sys.argv) > 1:
        import gguf
        templates["gguf"] = gguf.GGUFReader(sys.argv[1]).fields["tokenizer.chat_template"].contents()
    out = {"oracle": "jinja2", "versions": {"jinja2": jinja2.__version__}, "now": NOW, "contexts": CONTEXTS,
           "templates": [{"name": n, "template": t, "rendered": {c: render(t, v) for c, v in CONTEXTS.items()}}
                         for n, t in templates.items()]}
    (HERE / "templates_golden.json").write_text(json.dumps(out, indent=1, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
