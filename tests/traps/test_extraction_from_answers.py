"""Trap: extraction from real-looking answers. Every way in which an answer hides the body, each a test."""

from __future__ import annotations

import ast
import functools
import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.python_syntax import parse
from workbench.regeneration.extraction import MAX_ANSWER, extract_body
from workbench.repository.functions import find_functions
from workbench.repository.lines import reindent
from workbench.repository.splicing import body_text, splice

SITE = Path(pytest.__file__).parent.parent
SOURCE = b'''import os


class A:
    @property
    def size(self) -> int:
        """The size."""
        return len(self.items)

    @cached
    def area(self, width, height=2):
        """Return the area.

        Never negative.
        """
        ORIGINAL = 1
        return ORIGINAL


def bare(x):
    return ORIGINAL
'''
AREA = find_functions(SOURCE, "m.py")[1]
BARE = find_functions(SOURCE, "m.py")[2]
BODY = "a = width * height\nif a < 0:\n    a = 0\nreturn a"
IN8 = textwrap.indent(BODY, " " * 8)
HEADER = "    @cached\n    def area(self, width, height=2):\n"
DOC = '        """Return the area.\n\n        Never negative.\n        """\n'


def fence(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


SHAPES = {
    "plain body in a fence": fence(IN8),
    "zero indentation": fence(BODY),
    "one level": fence(textwrap.indent(BODY, "    ")),
    "tabs": fence(textwrap.indent(BODY.replace("    ", "\t"), "\t")),
    "header repeated": fence(HEADER + IN8),
    "header and docstring repeated": fence(HEADER + DOC + IN8),
    "header without decorator at the margin": fence("def area(self, width, height=2):\n" + textwrap.indent(BODY, "    ")),
    "header at the margin, body deep": fence("def area(self, width, height=2):\n" + IN8),
    "header, body not indented": fence("def area(self, width, height=2):\n" + BODY),
    "header over several lines, body not indented": fence("def area(\n    self,\n    width, height=2,\n):\n" + BODY),
    "header in place, body at its level": fence(HEADER + textwrap.indent(BODY, "    ")),
    "docstring repeated": fence(DOC + IN8),
    "another docstring, in other quotes": fence("'''Area.'''\n" + BODY),
    "docstring repeated, body at the margin after it": fence(textwrap.dedent(DOC) + BODY),
    "class repeated": fence("class A:\n    def other(self):\n        return 9\n\n" + HEADER + DOC + IN8),
    "file repeated": fence("import os\n\n\nclass A:\n" + HEADER + DOC + IN8 + "\n\n\ndef bare(x):\n    return 3\n"),
    "no fence": IN8,
    "no fence at the margin": BODY,
    "first line lost its indentation": "a = width * height\n        if a < 0:\n            a = 0\n        return a",
    "first line deeper": "            a = width * height\n        if a < 0:\n            a = 0\n        return a",
    "unclosed fence": "```python\n" + IN8,
    "unclosed fence with prose after": "```python\n" + IN8 + "\n\nThis works since the area is computed.",
    "only the closing fence": IN8 + "\n```\nThis multiplies both sides.",
    "tildes": "~~~py\n" + IN8 + "\n~~~",
    "no tag": fence(IN8, ""),
    "fence in a list": "1. The body:\n\n   " + fence(BODY).replace("\n", "\n   "),
    "prose around a fence": "Sure! Here's the body:\n\n" + fence(IN8) + "\n\nIt's done, isn't it?",
    "prose around no fence": "Here is the body of the method:\n\n" + IN8 + "\n\nThis computes the area.",
    "prose around no fence, margin": "Here is the body of the method:\n\n" + BODY + "\n\nThis computes the area.",
    "prose around a definition": "Here is the method:\n\ndef area(self, width, height=2):\n" + textwrap.indent(BODY, "    ") + "\n\nI hope it helps you.",
    "usage after it": fence(IN8) + "\nUse it so:\n" + fence("print(A().area(2, 3))"),
    "shell before it": fence("pip install numpy", "bash") + "\n" + fence(IN8),
    "output after it": fence(IN8) + "\nOutput:\n" + fence("6", "text"),
    "the question first, then the answer": fence(HEADER + DOC + "        pass") + "\nbecomes\n" + fence(HEADER + DOC + IN8),
    "ellipsis first, then the answer": fence("def area(self, width, height=2):\n    ...") + "\n" + fence(IN8),
    "thoughts": "<think>\nMaybe\n```python\nreturn 0\n```\n</think>\n" + fence(IN8),
    "thoughts without a beginning": "Maybe\n```python\nreturn 0\n```\n</think>\n\n" + fence(IN8),
    "json": '{"reasoning": "w*h", "code": ' + json.dumps(BODY) + "}",
    "json in a fence": fence('{"body": ' + json.dumps(fence(BODY)) + "}", "json"),
    "windows line ends": fence(IN8).replace("\n", "\r\n"),
    "end token": fence(IN8) + "<|im_end|>",
    "the next method follows": IN8 + "\n\n    def perimeter(self):\n        return 1\n",
    "the next method follows, unfinished": IN8 + "\n\n    def perimeter(self):\n        return (1 +",
    "statements at module level follow": fence(HEADER + IN8 + "\n\nprint(A().area(1, 2))\nassert A().area(1, 2) == 2"),
    "overloads before it": fence("@overload\ndef area(self, width): ...\n@overload\ndef area(self, width, height): ...\ndef area(self, width, height=2):\n" + IN8),
    "the function got another name": fence("def solution(self, width, height=2):\n" + IN8),
}  # fmt: skip


@pytest.mark.parametrize("answer", SHAPES.values(), ids=SHAPES)
def test_the_body_is_found(answer):
    found = extract_body(answer, AREA, SOURCE)
    assert found.valid, found
    result = splice(SOURCE, AREA, found.body)
    expected = splice(SOURCE, AREA, BODY)
    assert ast.dump(parse(result)) == ast.dump(parse(expected)), found


def test_fences_inside_strings_do_not_end_the_block():
    body = 'text = """\n```python\nx\n```\n"""\nreturn text'
    for shape in (fence(body), "Text:\n" + fence(textwrap.dedent(body)), body):
        found = extract_body(shape, BARE, SOURCE)
        assert found.valid
        assert found.body == body


def test_the_inside_of_multi_line_strings_is_never_dedented():
    body = '        text = """\nleft\n    four\n            twelve\n"""\n        return text'
    found = extract_body(fence(body), AREA, SOURCE)
    assert found.body == 'text = """\nleft\n    four\n            twelve\n"""\nreturn text'


def test_code_that_does_not_parse_is_stored_and_marked():
    found = extract_body(fence("return (1 +"), BARE, SOURCE)
    assert not found.valid
    assert found.body == "return (1 +"
    assert "does not parse" in found.reason


def test_comments_only_is_legal_with_a_docstring_alone():
    assert extract_body(fence("# nothing to do"), AREA, SOURCE).valid
    without = extract_body(fence("# nothing to do"), BARE, SOURCE)
    assert not without.valid
    assert "no statement" in without.reason


def test_docstring_only_equals_the_stub():
    for answer in (fence(DOC), fence(HEADER + DOC), fence('"""Area."""')):
        found = extract_body(answer, AREA, SOURCE)
        assert found.valid
        assert found.body == ""
        assert any("stub" in note for note in found.notes)
        assert parse(splice(SOURCE, AREA, found.body))
    assert extract_body(fence('def bare(x):\n    """Doc."""'), BARE, SOURCE).body == "pass"


def test_endless_answers_are_capped():
    found = extract_body("```python\nx = '" + "a" * 500_000, BARE, SOURCE)
    assert len(found.body) <= MAX_ANSWER
    assert any("cut" in note for note in found.notes)


def test_new_imports_come_along_and_known_ones_do_not():
    found = extract_body(fence("import os\nimport re\n\ndef bare(x):\n    return re.sub('a', 'b', x)"), BARE, SOURCE)
    assert found.body == "import re\nreturn re.sub('a', 'b', x)"


def test_an_inner_function_of_the_same_name_is_part_of_the_body():
    body = "def bare(y):\n    return y + x\nreturn bare"
    assert extract_body(fence(body), BARE, SOURCE).body == body


def test_the_setter_is_distinguished_from_the_getter():
    source = b"class A:\n    @property\n    def v(self):\n        'd'\n        return 1\n    @v.setter\n    def v(self, x):\n        'd'\n        self._v = x\n"
    getter, setter = find_functions(source, "m.py")
    answer = fence(source.decode().replace("return 1", "return 10").replace("self._v = x", "self._v = 10"))
    assert extract_body(answer, getter, source).body == "return 10"
    assert extract_body(answer, setter, source).body == "self._v = 10"


@pytest.mark.parametrize(
    ("style", "text", "body"),
    [
        ("completion", "    return 1\n\n\ndef other():\n    return 2\n", "return 1"),
        ("completion", "return 1\n", "return 1"),
        ("completion", "\n    x = 1\n    return x", "x = 1\nreturn x"),
        ("completion", "    x = 1\n    return x\n\nprint(bare(1))\nassert (", "x = 1\nreturn x"),
        ("completion", "    return 1\n```\nText", "return 1"),
        ("solution", "import os\n\ndef bare(x):\n    return 1\n\ndef other():\n    return 2\n", "return 1"),
        ("solution", "return 1", "return 1"),
        ("solution", fence("def bare(x):\n    return 1"), "return 1"),
    ],
)
def test_samples_in_the_style_of_evalplus(style, text, body):
    found = extract_body(text, BARE, SOURCE, style=style)
    assert found.valid
    assert found.body == body


@functools.cache
def real_functions():
    found = []
    for project in ("rich", "tabulate", "requests"):
        for file in sorted((SITE / project).rglob("*.py"))[::12]:
            source = file.read_bytes()
            if len(source) > 40_000:
                continue
            for function in find_functions(source, file.name):
                body = reindent(body_text(source, function).lstrip(" ").lstrip("\n"), "", "    ")
                plain = body.strip() not in ("", "pass", "...") and not body.lstrip().startswith(('"', "'"))
                if function.kind != "nested" and plain:
                    found.append((source, function, body))
    return found


def _shape(number: int, source: bytes, function, body: str) -> str:
    header = source[slice(*function.header)].decode()
    inner = textwrap.indent("x", "    ")[:-1]
    literal = source[slice(*function.docstring_span)].decode() if function.docstring_span else None
    document = f"{inner}{literal}\n" if literal else ""
    deep, shallow = reindent(body, " " * 8, "    "), reindent(body, "    ", "    ")
    return [
        fence(body),
        fence(deep),
        fence(f"{header}\n{document}{shallow}"),
        fence(f"{header}\n{shallow}"),
        fence(f"{document}{shallow}"),
        f"Here's the code:\n\n{fence(shallow)}\n\nIt does what the docstring says.",
        f"```python\n{shallow}",
        shallow,
        body,
        f"<think>hm, it's odd</think>{fence(body)}",
        fence(f"class Any_:\n    x = 1\n\n{reindent(header, '    ', '    ')}\n{deep}"),
        f"{shallow}\n\n\ndef something_else():\n    return (",
        json.dumps({"code": body}),
        fence(source.decode()),
    ][number]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 13))
def test_real_bodies_survive_every_shape(random, shape):
    source, function, body = random.choice(real_functions())
    answer = _shape(shape, source, function, body)
    found = extract_body(answer, function, source)
    expected = ast.dump(parse(splice(source, function, body)))
    assert found.valid, (found, answer)
    assert ast.dump(parse(splice(source, function, found.body))) == expected, (found, answer)


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("`~x=1:()'\"#\\ \t\n<>{}defreturn"), max_size=120))
def test_any_answer_is_survived(answer):
    found = extract_body(answer, AREA, SOURCE)
    if found.valid:
        parse(splice(SOURCE, AREA, found.body))
