"""Splicing bodies and docstrings: everything else stays byte for byte."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sweeps import spread

from workbench.base.python_syntax import parse
from workbench.repository.functions import find_functions
from workbench.repository.lines import LineKind, read_lines, split_lines, syntax_problem
from workbench.repository.splicing import SpliceError, body_text, lay_out_docstring, replace_docstring, splice

SITE = Path(pytest.__file__).parent.parent
PROJECTS = ["rich", "tabulate", "textual/widgets", "requests"]


def one(source: bytes, number: int = 0):
    return find_functions(source, "m.py")[number]


CASES = [
    # (source, body, expected)
    (b"def f(): return 1  # c\nx = 1\n", "return 2", b"def f(): return 2\nx = 1\n"),
    (b"def f(): return 1\nx = 1\n", "y = 2\nreturn y", b"def f():\n    y = 2\n    return y\nx = 1\n"),
    (b"def f(): return 1\n", "if a: return 2", b"def f():\n    if a: return 2\n"),
    (b"def f(): return 1\n", "x = 1; return x", b"def f(): x = 1; return x\n"),
    (b"def f(): \\\n  return 1\n", "return 2", b"def f(): return 2\n"),
    (b'def f(): "doc"\n', "return 1", b'def f(): "doc"; return 1\n'),
    (b'def f(): "doc"; return 0\n', "a = 1\nreturn a", b'def f():\n    "doc"\n    a = 1\n    return a\n'),
    (b'def f():\n    "d"; return 1\n', "return 2", b'def f():\n    "d"\n    return 2\n'),
    (b"def f(x):  # type: ignore\n    # why\n    return x\n    # end\n\n\ny = 1", "return 2\n\n", b"def f(x):  # type: ignore\n    return 2\n\n\ny = 1"),
    (b'def f():\n    """d"""  # noqa\n    return 1', "return 2", b'def f():\n    """d"""  # noqa\n    return 2'),
    (b'def f():\n    """d"""\n', "return 2", b'def f():\n    """d"""\n    return 2\n'),
    (b'def f():\n    """d"""\n    return 1\n', "", b'def f():\n    """d"""\n'),
    (b"class A:\r\n\tdef f(self):\r\n\t\treturn 1\r\n\tx = 1\r\n", "if a:\n    return '''\n  s'''\nreturn 1", b"class A:\r\n\tdef f(self):\r\n\t\tif a:\r\n\t\t\treturn '''\r\n  s'''\r\n\t\treturn 1\r\n\tx = 1\r\n"),
    (b"def f():\n  return 1\n", "if a:\n\treturn (1,\n\t\t2)\nreturn 3", b"def f():\n  if a:\n    return (1,\n    \t2)\n  return 3\n"),
    (b"\xef\xbb\xbfdef f():\n    return 1\n", "return 2", b"\xef\xbb\xbfdef f():\n    return 2\n"),
    (b"@d\nasync def f(a,\n            b=')'):\n        return 1\n", "    await a\n    return b\n", b"@d\nasync def f(a,\n            b=')'):\n        await a\n        return b\n"),
    (b"def f():\n    x = 1 \\\n        + 2\n    return x\ndef g(): pass\n", "return 3", b"def f():\n    return 3\ndef g(): pass\n"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "body", "expected"), CASES)
def test_splice(source, body, expected):
    function = one(source)
    assert splice(source, function, body) == expected
    assert splice(source, function, body_text(source, function)) == source
    assert syntax_problem(expected) is None


def test_the_inside_of_multi_line_strings_is_never_moved():
    body = 'x = """\nleft\n      right\n"""\ny = f"""\n{x}\n"""\nz = "a\\\nb"\nreturn x'
    source = b"class A:\n    def f(self):\n        return 1\n"
    result = splice(source, one(source), body)
    assert b'"""\nleft\n      right\n"""\n        y' in result
    assert b'"a\\\nb"\n        return' in result


def test_characters_that_the_encoding_lacks_are_refused_with_a_sentence():
    source = b"# coding: latin-1\ndef f():\n    return 1\n"
    assert "é".encode("latin-1") in splice(source, one(source), "return 'é'")
    with pytest.raises(SpliceError, match="latin|iso8859"):
        splice(source, one(source), "return '→'")


def _projects():
    for project in PROJECTS:
        for file in sorted((SITE / project).rglob("*.py")):
            yield file, file.read_bytes()


def test_every_function_of_real_projects_takes_its_own_body_back():
    count = 0
    for file, source in spread(list(_projects()), 3):
        for function in find_functions(source, file.name):
            assert splice(source, function, body_text(source, function)) == source, function.id
            count += 1
    assert count > 500


def test_a_stub_parses_and_changes_no_other_function():
    for file, source in spread(list(_projects()), 30):
        functions = find_functions(source, file.name)
        for function in functions[::4]:
            result = splice(source, function, "raise SystemError")
            parse(result)
            outside = [f for f in functions if not function.span.start < f.span.start < function.span.end]
            after = find_functions(result, file.name)
            assert [f.qualified_name for f in after] == [f.qualified_name for f in outside]
            for old, new in zip(outside, after, strict=True):
                contains = old.span.start <= function.span.start and function.span.end <= old.span.end
                if not contains:
                    assert body_text(source, old) == body_text(result, new)


DOCUMENTS = [
    (b"def f(): return 1\n", "d", b'def f():\n    """d"""\n    return 1\n'),
    (b"def f(): ...\n", None, b"def f(): ...\n"),
    (b'def f(): "d"\n', None, b"def f(): pass\n"),
    (b'def f():\n    "d"\n', None, b"def f():\n    pass\n"),
    (b'def f():\n    "d"\n    # only a comment\n', None, b"def f():\n    pass\n    # only a comment\n"),
    (b'def f():\n    "d"\n    "next"\n    return 1\n', None, b'def f():\n    pass\n    "next"\n    return 1\n'),
    (b'def f():\n    "d"\n\n    return 1\n', None, b"def f():\n\n    return 1\n"),
    (b'def f():\n    "d"; return 1\n', None, b"def f():\n    return 1\n"),
    (b'def f():\n    "d"  # noqa\n    return 1\n', None, b"def f():\n    # noqa\n    return 1\n"),
    (b"def f():  # c\r\n\treturn 1\r\n", "a\nb", b'def f():  # c\r\n\t"""a\r\nb"""\r\n\treturn 1\r\n'),
    (b"def f():\n    # c\n    'old'\n    return 1\n", "new", b'def f():\n    # c\n    """new"""\n    return 1\n'),
]  # fmt: skip


@pytest.mark.parametrize(("source", "docstring", "expected"), DOCUMENTS)
def test_docstrings_are_added_replaced_and_removed(source, docstring, expected):
    result = replace_docstring(source, one(source), docstring)
    assert result == expected
    assert one(result).docstring == docstring


SOURCES = [
    b"def f():\n    return 1\n",
    b"def f():\r\n\treturn 1\r\n",
    b"# -*- coding: latin-1 -*-\ndef f(): return 1\n",
    b'class A:\n    def f(self):\n        """Old."""\n',
]


@given(
    st.text(st.characters(exclude_categories=()), max_size=60)
    | st.text(st.sampled_from("\"'\\ nrux{}\n\r\x00\ud800\N{GREEK SMALL LETTER PI}"), max_size=12),
    st.sampled_from(SOURCES),
)
@example("of quotes never ''', always " + '"' * 3, SOURCES[0])
@example("'" * 3 + '"' * 4, SOURCES[1])
@example('"' * 7, SOURCES[0])
def test_any_text_is_quoted_so_that_it_comes_back(text, source):
    result = replace_docstring(source, one(source), text)
    assert one(result).docstring == text
    assert ast.get_docstring(parse(result).body[0], clean=False) == text or b"class" in source


def test_docstrings_of_real_functions_can_be_taken_away_and_given_back():
    for file, source in spread(list(_projects()), 30):
        tree = ast.dump(parse(source))
        for function in find_functions(source, file.name)[::6]:
            bare = replace_docstring(source, function, None)
            found = next(f for f in find_functions(bare, file.name) if f.id == function.id)
            assert found.docstring is None
            if function.docstring is not None and b"pass" not in bare[slice(*found.body)]:
                back = replace_docstring(bare, found, function.docstring)
                assert ast.dump(parse(back)) == tree, function.id


def test_layout_puts_later_lines_at_the_bodys_indentation():
    source = b"class A:\n    def f(self):\n        return 1\n"
    text = lay_out_docstring(source, one(source), "First.\n\n    Args:\n        x: y")
    assert text == "First.\n\n        Args:\n            x: y\n        "


def test_line_kinds_agree_with_tokenize_on_real_files():
    import io
    import tokenize

    for file, source in spread(list(_projects()), 30):
        text = source.decode()
        expected: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                expected |= set(range(token.start[0] + 1, token.end[0] + 1))
        got = {number for number, line in enumerate(read_lines(text), 1) if line.kind is LineKind.STRING}
        if hasattr(tokenize, "FSTRING_START"):
            assert expected <= got, file
        else:
            assert got == expected, file


@given(st.text(max_size=200))
def test_lines_join_to_the_text(text):
    assert "".join(split_lines(text)) == text == "".join(line.text for line in read_lines(text))


@given(st.text(st.sampled_from("x=1:()[]'\"#\\ \t\n\r;"), max_size=80))
def test_splicing_any_text_keeps_what_is_around(body):
    source = b"a = 1\n\n\ndef f(x):\n    '''d'''\n    return 1\n\n\nb = 2\n"
    result = splice(source, one(source), body)
    assert result.startswith(b"a = 1\n\n\ndef f(x):\n    '''d'''")
    assert result.endswith(b"\n\n\nb = 2\n")
