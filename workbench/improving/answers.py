"""A docstring from a writer's answer: one string literal, in a Markdown fence or not, and nothing else."""

from __future__ import annotations

import ast
import inspect
import re

from workbench.improving.attempts import Refused
from workbench.models.reasoning import split_reasoning
from workbench.python_syntax import UNREADABLE, parse
from workbench.text import UNSEEN

#: Characters of an answer that are read at all; a docstring is a tenth of that at most.
LARGEST_ANSWER = 40_000

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[\w.+-]*[ \t]*\n(.*)\n[ \t]*\1[ \t]*", re.DOTALL)
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{UNSEEN}]")
_NONE = "it is prose or code, not a docstring in triple quotes"
_QUOTES = re.compile(r"\"\"\"|'''")


def read_docstring(answer: str) -> str:
    """Return the text of the docstring that an answer is, without the indentation of its lines.

    Raises:
        Refused: It is none, or something stands around it; the reason is one sentence.
    """
    if len(answer) > LARGEST_ANSWER:
        raise Refused(
            "answer", f"it has {len(answer):,} characters, and what has more than {LARGEST_ANSWER:,} is no docstring"
        )
    text = split_reasoning(answer.replace("\r\n", "\n")).answer.strip()
    if not text:
        raise Refused("answer", "the writer answered nothing")
    if fenced := _FENCE.fullmatch(text):
        text = inspect.cleandoc(fenced[2]).strip()
    try:
        tree = parse(text)
    except UNREADABLE:
        raise Refused("answer", _no_literal(text)) from None
    statements = tree.body
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        code = any(not isinstance(one, ast.Expr) for one in statements)
        raise Refused("answer", "it is code, not a docstring" if code else _no_literal(text))
    value = statements[0].value
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        raise Refused("answer", _NONE)
    said = inspect.cleandoc(value.value.expandtabs(4)).strip()
    if not said:
        raise Refused("answer", "the docstring is empty")
    if _CONTROLS.search(said):
        raise Refused("answer", "the docstring holds control or invisible characters")
    return said


def _no_literal(text: str) -> str:
    quotes = len(_QUOTES.findall(text))
    if text.startswith(('"""', "'''")) and quotes == 1:
        return "the docstring does not end: its closing quotes are missing"
    if quotes >= 2:
        return "something stands around the docstring; only the docstring in its triple quotes is wanted"
    return _NONE
