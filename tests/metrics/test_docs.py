"""Completeness in both versions, and truthfulness."""

from __future__ import annotations

import pytest

from workbench.metrics.docstrings import completeness, names_of, truthfulness

CODE = '''    def read(self, path, *rest, **options):
        """x"""
        text = f"""
no indentation here"""
        try:
            return open(path).read() + text
        except OSError:
            log()
'''
GOOGLE = """Read a file.

It may be large.

Args:
    path: Where it is.

Returns:
    What is in it.

Examples:
    >>> read("a")
"""
NUMPY = """Read a file.

Parameters
----------
path : str

Returns
-------
str
"""


def test_docagent_wants_raises_for_a_call_and_strict_for_a_raise():
    ours, theirs = (completeness(CODE, GOOGLE, version=one) for one in ("strict", "docagent"))
    assert ours.required == ("summary", "description", "args", "returns", "examples")
    assert ours.value == 1.0
    assert theirs.required == ("summary", "description", "args", "returns", "raises", "examples")
    assert theirs.value == pytest.approx(5 / 6)


def test_a_call_in_a_handler_alone_raises_nothing_for_docagent():
    code = "def _f():\n    try:\n        x = 1\n    except OSError:\n        log()\n"
    assert completeness(code, "x", version="docagent").required == ("summary", "description")


def test_only_strict_reads_other_styles_and_refuses_labels_within_a_sentence():
    assert completeness(CODE, NUMPY, version="strict").present == ("summary", "args", "returns")
    assert "returns" not in completeness(CODE, NUMPY, version="docagent").present
    sphinx = "Read.\n\n:param path: where\n:returns: text"
    assert completeness(CODE, sphinx, version="strict").present == ("summary", "args", "returns")
    sentence = "Read, with no args: nothing is needed."
    assert "args" in completeness(CODE, sentence, version="docagent").present
    assert "args" not in completeness(CODE, sentence, version="strict").present


def test_starred_parameters_count_for_strict_only():
    code = "def _f(*args, **kwargs):\n    pass\n"
    assert "args" in completeness(code, "", version="strict").required
    assert "args" not in completeness(code, "", version="docagent").required


def test_inner_functions_and_bare_returns_require_nothing():
    code = "def _f():\n    def g():\n        return 1\n    if g:\n        raise ValueError\n    return None\n"
    assert completeness(code, None, version="strict").required == ("summary", "description", "raises")
    assert completeness(code, None, version="strict").value == 0.0
    assert completeness("async def f(): yield 1", "", version="strict").required[-2:] == ("returns", "examples")


def test_what_is_no_function_is_not_judged():
    for code in ("", "x = 1", "def broken(", "    y = 2"):
        assert completeness(code, "Text.", version="strict") is None
    with pytest.raises(ValueError, match="version"):
        completeness(CODE, "", version="lenient")


@pytest.mark.parametrize(
    ("code", "docstring", "required", "present"),
    [
        ("def __init__(self, a): pass", "", "", ""),
        ("def _f(cls): pass", "One line.", "summary description args", "summary"),
        ("def _f(a, /, *b, **c): pass", "One\nand two lines.", "summary description", "summary"),
        ("def _f(self, *, a): pass", "One.\n\nTwo.", "summary description args", "summary description"),
        ("def _f():\n    return None", "One.\n \t\nTwo.", "summary description returns", "summary description"),
        ("def _f():\n    return", "One.\n\nUsage example: x.\n\nTwo.", "summary description", "summary"),
        ("def _f():\n    return 1", "One.\n\nReturn value: 1.", "summary description returns", "summary returns"),
        ("def f(): pass", "One, with an example: x", "summary description examples", "summary examples"),
        ("@cache()\ndef _f(): pass", "One.", "summary description raises", "summary"),
        ("def _f():\n    def g():\n        return h()", "One.", "summary description returns raises", "summary"),
        ("def _f():\n    try:\n        pass\n    except E:\n        raise\n", "One.", "summary description", "summary"),
    ],
)
def test_docagent_counts_as_the_original(code: str, docstring: str, required: str, present: str) -> None:
    found = completeness(code, docstring, version="docagent")
    assert (" ".join(found.required), " ".join(found.present)) == (required, present)
    assert found.value == (len(present.split()) / len(required.split()) if required else 1.0)


def test_names_that_exist_nowhere_are_found():
    known = names_of("from a import Reader\ndef read_file(path_name): pass")
    found = truthfulness(
        "Uses `Reader.read_file()` and read_lines(), or `path_name`; see BaseReader and ValueError.", known
    )
    assert found.missing == ("BaseReader", "read_lines")
    assert found.mentioned == ("BaseReader", "Reader.read_file", "ValueError", "path_name", "read_lines")
    assert found.value == pytest.approx(0.6)
    assert truthfulness("Nothing but prose in here.", known).value is None
    assert truthfulness(None, known).mentioned == ()
