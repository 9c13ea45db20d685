"""Extract the candidate body from a model's answer.

Models repeat headers, docstrings, classes and files, write several code blocks, forget to close them, lose the
indentation, and add prose. Extraction tolerates all of this but never repairs a statement: code that does not parse
becomes an invalid candidate with a reason.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from workbench.regeneration.fences import Block, read_blocks
from workbench.regeneration.reduction import Reduced, reduce_to_body
from workbench.repository.functions import Function

Style = Literal["chat", "completion", "solution"]

EXTRACTION_VERSION = "extraction-1"
MAX_ANSWER = 200_000  # characters; longer answers are truncated
_CUT = "the answer was cut "
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought|reasoning|analysis)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\A\s*<(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"^\s*</(?:think|thinking|thought|reasoning|analysis)>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_SPECIAL = re.compile(r"(?:<\|[A-Za-z_ ]{1,30}\|>|</s>|<eos>)\s*\Z")
_CODE_KEYS = (
    "body",
    "code",
    "completion",
    "solution",
    "implementation",
    "function_body",
    "function",
    "answer",
    "python",
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The body extracted from an answer.

    ``body`` is dedented, ready for ``splice``; None if the answer contains no code. ``reason`` says why the candidate is
    invalid and is empty for a valid one; a body that does not parse is kept for display. ``notes`` list what was left out
    or adjusted.
    """

    body: str | None
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def valid(self) -> bool:
        """Whether there is a body and it parses."""
        return self.body is not None and not self.reason

    @property
    def repairs(self) -> tuple[str, ...]:
        """The notes on what the answer had beside or instead of a body alone in one block; that it was cut is none."""
        return tuple(note for note in self.notes if not note.startswith(_CUT))


def extract_body(answer: str, function: Function, source: bytes = b"", *, style: Style = "chat") -> Extraction:
    """Return the body for ``function`` in ``answer``; never raises.

    Args:
        answer: The model's text.
        function: The target, as found in the file.
        source: The file, used to leave out imports that the answer repeats; may be empty.
        style: ``chat`` for an answer to the prompt; ``completion`` for text that continues the file (EvalPlus
            ``completion``); ``solution`` for whole code (EvalPlus ``solution``).
    """
    notes: list[str] = []
    text = answer.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").replace("\x00", "")
    if len(text) > MAX_ANSWER:
        text = text[:MAX_ANSWER]
        notes.append(f"the answer was cut at {MAX_ANSWER:,} characters")
    text, thought = _without_thoughts(text)
    notes += thought
    while match := _SPECIAL.search(text):
        text = text[: match.start()]
    if not text.strip():
        return Extraction(None, tuple(notes), "the answer is empty")
    inner = _from_json(text)
    if inner is not None:
        text = inner
        notes.append("the code stood in JSON")
        if not text.strip():
            return Extraction(None, tuple(notes), "the answer is empty")
    return _best(_blocks(text, style), function, source, notes, fences_asked=style == "chat")


def _blocks(text: str, style: Style) -> list[Block]:
    blocks = read_blocks(text)
    if style == "chat" or (blocks and blocks[0].fenced and text.lstrip().startswith(("`", "~"))):
        return blocks
    # Whole code may contain fences in strings, so it is tried as it is before any block in it.
    return [Block(text, fenced=False), *[block for block in blocks if block.fenced]]


def _best(
    blocks: list[Block], function: Function, source: bytes, notes: list[str], *, fences_asked: bool = False
) -> Extraction:
    python = [block for block in blocks if block.may_be_python]
    if not python:
        nested = next((found for block in blocks if (found := _from_json(block.text)) is not None), None)
        if nested is not None:
            return _best(read_blocks(nested), function, source, [*notes, "the code stood in JSON"])
        language = next((block.language for block in blocks if block.language), "another language")
        return Extraction(None, tuple(notes), f"the answer's code is {language}, not Python")
    tried: list[tuple[Block, Reduced]] = []
    for block in python:
        loose = not (block.fenced and block.closed)
        tried.append((block, reduce_to_body(block.text, function, source, prose_around=loose)))
    block, reduced = max(tried, key=lambda item: _rank(item[1]))
    if fences_asked and not block.fenced and reduced.problem is None:
        notes.append("the code stood in no block")
    if block.fenced and not block.closed:
        notes.append("the code block was not closed")
    if sum(1 for other in python if other.fenced) > 1:
        notes.append("the answer has several code blocks")
    notes += reduced.notes
    if reduced.problem is None:
        return Extraction(reduced.body, tuple(notes))
    if not block.fenced and not reduced.defines_target and _reads_like_prose(block.text):
        return Extraction(None, tuple(notes), "the answer holds no Python code")
    if not reduced.body.strip():
        return Extraction(reduced.body or None, tuple(notes), reduced.problem)
    return Extraction(reduced.body, tuple(notes), _as_reason(reduced.problem))


def _rank(reduced: Reduced) -> tuple[bool, bool, bool]:
    """Prefer code that parses, then non-trivial code, then the target's own definition; the first block wins ties."""
    return reduced.problem is None, not reduced.trivial, reduced.defines_target


def _as_reason(problem: str) -> str:
    return f"the body does not parse: {problem}" if problem.startswith(("line", "Python")) else problem


def _without_thoughts(text: str) -> tuple[str, list[str]]:
    rest = _THOUGHT.sub("", text, count=1)
    if rest != text:
        return rest, ["the model's thoughts were left out"]
    if _OPEN_THOUGHT.match(text):
        return "", ["the model's thoughts never ended"]
    end = _THOUGHT_END.search(text)
    if end:
        return text[end.end() :], ["the model's thoughts were left out"]
    return text, []


def _from_json(text: str) -> str | None:
    """Return the code in an answer that is one JSON object, bare or in a fence, else None."""
    stripped = re.sub(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", r"\1", text, flags=re.DOTALL).strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        for key in _CODE_KEYS:
            if isinstance(value.get(key), str):
                return str(value[key])
    return None


def _reads_like_prose(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wordy = sum(
        1
        for line in lines
        if re.match(r"[-*>#\d.\s]*[A-Z\"“‘(]?[\w'’,-]+ [\w'’,-]+", line) and not re.search(r"[=(\[]", line)
    )
    return bool(lines) and wordy * 2 >= len(lines)
