"""Extract the candidate body from a model's answer.

Models repeat headers, docstrings, classes and files, write several code blocks, leave them open, lose the indentation,
and add prose. Extraction accepts all of this but never repairs a statement: code that does not parse becomes an invalid
candidate with a reason.
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from workbench.base.errors import UsageError
from workbench.base.files import TooDeep, parse_json, read_bytes
from workbench.base.text import UNSEEN
from workbench.models.reasoning import is_python, split_reasoning
from workbench.regeneration.fences import AnswerBlock, after_first_tag, read_blocks
from workbench.regeneration.reduction import Reduced, reduce_to_body, returns
from workbench.repository.functions import Function

#: Prompts of the Python and IPython shells.
_PROMPT = re.compile(r"[ \t]*(?:(?:>>>|In ?\[\d*\]:)(?: |$)(?P<first>.*)|(?:\.\.\.+|\.{3}:)(?:[: ]|$)(?P<more>.*))")
_LINE_NUMBER = re.compile(
    r"[ \t]*[\[(]?[Ll]?(?P<number>\d{1,5})(?P<mark>(?:[ \t]*[:|│→.)\]]{1,2})?)(?P<rest>[ \t].*|$|.*)"
)
_DIFF = re.compile(r"^(?:diff --git |@@ .*@@|--- \S.*\n\+\+\+ \S|\*\*\* Begin Patch)", re.MULTILINE)
_HUNK = re.compile(r"^@@(?: .*)?$", re.MULTILINE)
#: Triple quotes used as a fence.
_QUOTED = re.compile(r"\s*(\"{3}|'{3})[ \t]*(?:python|py)?[ \t]*\n(?P<code>.*?)\n?[ \t]*\1\s*", re.DOTALL)
_MARKUP = re.compile(r"</?(?:br|span|div|p|pre|code|b|i|em|strong|font|a)\b[^<>]*>")
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
#: Matches a string, which is skipped, or an invisible or unusual character outside of strings.
_INVISIBLE = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''" + r'|"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
    rf"|(?P<space>[{_SPACES}])|(?P<unseen>[{UNSEEN}\u200c\u200d])",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_CODE_KEYS = (
    "body", "code", "completion", "solution", "implementation", "function_body", "function", "answer", "python",
    "python_code", "new_str", "file_text", "content", "source", "input",
)  # fmt: skip
_MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Interpretation:
    """One way to read a text as Python."""

    text: str
    note: str
    # Accepted only if it defines the function or returns; otherwise it may be just a usage example.
    must_define: bool = False


def interpretations(text: str) -> Iterator[Interpretation]:
    """Yield the possible interpretations of a text that is not valid Python."""
    lines = text.strip("\n").split("\n")
    if _DIFF.search(text) or _is_all_changes(lines):
        one_place = len(_HUNK.findall(text)) <= 1
        yield Interpretation(
            _after_change(lines) if one_place else "",
            "the code was in a diff" + ("" if one_place else " with several hunks"),
            must_define=True,
        )
        return
    if quoted := _QUOTED.fullmatch(text):
        yield Interpretation(quoted["code"], "the code was in triple quotes", must_define=True)
    if any(_PROMPT.match(line) for line in lines) and (first := next((x for x in lines if x.strip()), "")):
        prompt = _PROMPT.match(first)
        if prompt and prompt["first"] is not None:
            yield Interpretation(_shell_input(lines), "the code was in an interactive session", must_define=True)
    for unnumbered in _without_numbers(lines):
        yield Interpretation(unnumbered, "line numbers were left out")
    if all(line.startswith(">") for line in lines if line.strip()):
        yield Interpretation("\n".join(re.sub(r"^> ?", "", line) for line in lines), "the code was quoted with >")
    plain = _INVISIBLE.sub(lambda one: " " if one["space"] else "" if one["unseen"] else one[0], text)
    if plain != text:
        yield Interpretation(plain, "invisible characters were left out")
    if _MARKUP.search(text):
        plain = _MARKUP.sub("", re.sub(r"<br[^<>]*>\n?", "\n", text))
        yield Interpretation(html.unescape(plain).replace("\xa0", " "), "HTML was decoded")
    elif _ENTITY.search(text):
        yield Interpretation(html.unescape(text).replace("\xa0", " "), "HTML entities were decoded")
    if len(lines) == 1 and r"\n" in text:
        yield Interpretation(
            text.replace(r"\n", "\n").replace(r"\t", "\t").replace(r"\"", '"'), "escaped line ends were decoded"
        )


def _is_all_changes(lines: list[str]) -> bool:
    lines = [line for line in lines if line.strip()]
    return all(line[0] in "+- " for line in lines) and sum(line[0] == "+" for line in lines) * 2 >= max(1, len(lines))


def _after_change(lines: list[str]) -> str:
    headers = ("diff ", "index ", "--- ", "+++ ", "*** ", "@@", "new file", "deleted file", "\\ No newline")
    return "\n".join(line[1:] for line in lines if not line.startswith((*headers, "-")))


def _shell_input(lines: list[str]) -> str:
    found = [match for line in lines if (match := _PROMPT.match(line))]
    return "\n".join(match["first"] if match["first"] is not None else match["more"] for match in found)


def _without_numbers(lines: list[str]) -> Iterator[str]:
    """Yield the lines without leading line numbers, cut once after the separator and once at the column of the code."""
    found = [_LINE_NUMBER.match(line) for line in lines]
    numbers = [int(one["number"]) for one in found if one]
    if not numbers or len(numbers) < len(lines) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return
    rests = [one["rest"].removeprefix("\t") if one else "" for one in found]
    if all(not rest or rest.startswith(" ") for rest in rests):
        rests = [rest[1:] for rest in rests]
    yield "\n".join(rests)
    first = next((one for one in found if one and one["rest"].strip()), None)
    if first:
        column = len(first.string) - len(first["rest"].lstrip())
        yield "\n".join(line[column:] for line in lines)


def code_in_json(text: str, *, anywhere: bool = False) -> list[tuple[str, bool]]:
    """Return the strings in JSON that may be code, each with whether its key is one of ``_CODE_KEYS``.

    If ``anywhere`` is True, the JSON may start on any line.
    """
    starts = [0] if not anywhere else [one.start() for one in re.finditer(r"^[ \t]*[{\[]", text, re.MULTILINE)][:20]
    for start in starts:
        value = _decoded(text[start:])
        if isinstance(value, dict | list | str):
            named = list(dict.fromkeys(_under_code_keys(value, 0)))
            others = [one for one in dict.fromkeys(_strings(value, 0)) if one not in named]
            return [*((one, True) for one in named), *((one, False) for one in others)]
    return []


def _decoded(text: str) -> Any:
    text = text.strip()
    if not text.startswith(("{", "[", '"')) or text.startswith('"""'):
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _under_code_keys(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key in _CODE_KEYS:
            if isinstance(value.get(key), str) and _decoded(value[key]) is None:
                yield value[key]
            elif (lines := _as_lines(value.get(key))) is not None:
                yield lines
    for part in _parts(value):
        yield from _under_code_keys(part, depth + 1)


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif (lines := _as_lines(value)) is not None:
        yield lines
    if depth <= _MAX_DEPTH:
        for part in _parts(value):
            yield from _strings(part, depth + 1)


def _as_lines(value: Any) -> str | None:
    if isinstance(value, list) and len(value) > 1 and all(isinstance(one, str) for one in value):
        return "\n".join(one.rstrip("\n") for one in value)
    return None


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    inner = _decoded(value) if isinstance(value, str) else None
    return [inner] if isinstance(inner, dict | list) else []


Style = Literal["chat", "completion", "solution"]

EXTRACTION_VERSION = "extraction-2"
MAX_ANSWER = 200_000  # maximum number of characters; longer answers are truncated
ENDLESS_REASONING = "the model's reasoning never ended, so there is no answer"
_CUT = "the answer was cut "
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_DEFINED = re.compile("the (?:definition|function|class|header) ")
_SPECIAL = re.compile(r"(?:<\|[A-Za-z_ ]{1,30}\|>|</s>|<eos>)\s*\Z")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The body extracted from an answer.

    ``body`` is dedented and ready for ``splice``, or None if the answer contains no code. ``reason`` says why the
    candidate is invalid; its body can still be displayed. ``notes`` lists what was left out or adjusted.
    """

    body: str | None
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def valid(self) -> bool:
        return self.body is not None and not self.reason

    @property
    def repairs(self) -> tuple[str, ...]:
        """The notes on adjustments to the answer, without notes on its truncation."""
        return tuple(note for note in self.notes if not note.startswith(_CUT))


def extract_body(answer: str, function: Function, source: bytes = b"", *, style: Style = "chat") -> Extraction:
    """Return the body of ``function`` found in ``answer``; never raises.

    Imports repeated from ``source`` (which may be empty) are left out. ``style`` is ``chat`` for an answer to the
    prompt. EvalPlus's ``completion`` is text that continues the file, and its ``solution`` is a complete program.
    """
    notes: list[str] = []
    text = final_answer(answer, notes)
    if text is None:
        return Extraction(None, tuple(notes), ENDLESS_REASONING)
    try:
        found = _read(text, function, source, notes, style)
    except (RecursionError, MemoryError):
        return Extraction(None, tuple(notes), "the answer's code is nested too deeply to be read")
    if not found.valid and (surrogate := _LONE_SURROGATE.search(text)):
        return replace(
            found, reason=f"the answer contains a lone surrogate (U+{ord(surrogate[0]):04X}), which Python cannot read"
        )
    return found


def final_answer(answer: str, notes: list[str]) -> str | None:
    """Return a model's answer without its reasoning, or None if the reasoning never ended.

    Omissions are added to ``notes``.
    """
    text = answer.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").replace("\x00", "")
    if len(text) > MAX_ANSWER:
        text = text[:MAX_ANSWER]
        notes.append(f"the answer was cut at {MAX_ANSWER:,} characters")
    split = split_reasoning(text)
    if split.finished and split.reasoning:
        notes.append("the model's reasoning was left out")
    return _without_end_tokens(split.answer) if split.finished else None


def _without_end_tokens(text: str) -> str:
    while match := _SPECIAL.search(text):
        text = text[: match.start()]
    return text


def _read(text: str, function: Function, source: bytes, notes: list[str], style: Style) -> Extraction:
    text = _without_end_tokens(text)
    if not text.strip():
        return Extraction(None, tuple(notes), "the answer is empty")
    if rest := after_first_tag(text):
        # If a tag precedes the function's code, it contains the model's thoughts or plans, whatever its name.
        after_tag = _read(rest, function, source, [*notes, "a tag before the code was left out"], style)
        if _is_function_body(after_tag):
            return after_tag
    blocks = _blocks(text, style)
    whole = len(blocks) == 1
    if found := _from_json(code_in_json(blocks[0].text if whole else text), function, source, notes, style):
        return found
    chosen = _best([block for block in blocks if block.may_be_python], function, source)
    if chosen is None or chosen.reduced.problem is not None:
        parts = [*(block.text for block in blocks), text]
        strings = [one for part in parts for one in code_in_json(part, anywhere=True)]
        if found := _from_json(strings, function, source, notes, style):
            return found
        foreign = _best([block for block in blocks if not block.may_be_python], function, source)
        if foreign is not None and foreign.reduced.problem is None and foreign.belongs:
            chosen = foreign
    if chosen is None:
        language = next((block.language for block in blocks if block.language), "another language")
        return Extraction(None, tuple(notes), f"the answer's code is {language}, not Python")
    return _extraction(chosen, blocks, notes, asked_for_fence=style == "chat")


def _blocks(text: str, style: Style) -> list[AnswerBlock]:
    blocks = read_blocks(text)
    if style == "chat" or (blocks and blocks[0].fenced and text.lstrip().startswith(("`", "~", "<", "["))):
        return blocks
    # A complete program may contain fences in strings, so the literal text comes before the blocks found in it.
    return [AnswerBlock(text, fenced=False), *[replace(block, certain=False) for block in blocks if block.fenced]]


def _from_json(
    strings: list[tuple[str, bool]], function: Function, source: bytes, notes: list[str], style: Style
) -> Extraction | None:
    for text, has_code_key in strings:
        found = _read(split_reasoning(text).answer, function, source, [*notes, "the code was in JSON"], style)
        # Almost any string parses, so the value of any other key counts only if it defines the function or returns.
        if (found.valid and has_code_key) or _is_function_body(found):
            return found
    return None


def _is_function_body(found: Extraction) -> bool:
    return found.valid and (returns(found.body or "") or any(_DEFINED.match(note) for note in found.notes))


@dataclass(frozen=True, slots=True)
class _ReducedBlock:
    block: AnswerBlock
    reduced: Reduced

    @property
    def belongs(self) -> bool:
        """Return whether the code is certainly the function's own and not an example that calls it."""
        return self.reduced.defines_target or returns(self.reduced.body)

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, bool]:
        reduced = self.reduced
        problem = reduced.problem is not None
        returning = not problem and returns(reduced.body)
        return not problem, self.block.certain, not reduced.trivial, reduced.defines_target, returning


def _best(blocks: list[AnswerBlock], function: Function, source: bytes) -> _ReducedBlock | None:
    """Return the best block; among equals, the last that defines the function or returns (likely a correction)."""
    best: _ReducedBlock | None = None
    texts = [block.text for block in blocks if block.fenced and block.closed and block.certain]
    for block in blocks:
        other_code = [text for text in texts if text not in block.text and block.text not in text]
        candidate = _ReducedBlock(block, _reduced(block, function, source, other_code))
        if (
            best is None
            or candidate.rank > best.rank
            or (
                candidate.rank == best.rank
                and candidate.rank[0]
                and candidate.belongs
                and not _is_excerpt(block.text, best.block.text)
            )
        ):
            best = candidate
    return best


def _is_excerpt(text: str, whole: str) -> bool:
    """Return whether a block only repeats lines of another block."""
    lines = {line.strip() for line in whole.splitlines()}
    return all(line.strip() in lines for line in text.splitlines() if line.strip())


def _reduced(block: AnswerBlock, function: Function, source: bytes, other_code: list[str]) -> Reduced:
    literal = reduce_to_body(block.text, function, source, other_code=other_code)
    if literal.problem is None and not literal.trivial:
        return literal
    for interpretation in interpretations(block.text):
        found = reduce_to_body(interpretation.text, function, source, other_code=other_code)
        read = found.problem is None and not found.trivial
        if read and not (interpretation.must_define and not (found.defines_target or returns(found.body))):
            return replace(found, notes=(interpretation.note, *found.notes))
        # A diff that changes only the docstring reduces to a stub. It is an invalid answer, not a `pass` the model
        # wrote.
        if interpretation.must_define and (read or literal.problem is None) and not is_python(block.text):
            return Reduced("", (), f"{interpretation.note}, which does not define {function.name}")
    if literal.problem is None or (block.fenced and block.closed):
        return literal
    return reduce_to_body(block.text, function, source, prose_around=True, other_code=other_code)


def _extraction(
    chosen: _ReducedBlock, blocks: list[AnswerBlock], notes: list[str], *, asked_for_fence: bool
) -> Extraction:
    block, reduced = chosen.block, chosen.reduced
    if asked_for_fence and not block.fenced and reduced.problem is None:
        notes.append("the code was not in a code block")
    if block.fenced and not block.closed:
        notes.append("the code block was not closed")
    if sum(1 for other in blocks if other.fenced and other.may_be_python) > 1:
        notes.append("the answer has several code blocks")
    notes += reduced.notes
    if reduced.problem is None:
        return Extraction(reduced.body, tuple(notes))
    unparsed = reduced.problem.startswith(("line", "Python"))
    if not block.fenced and not reduced.defines_target and unparsed and _resembles_prose(block.text):
        return Extraction(None, tuple(notes), "the answer has no Python code")
    if not reduced.body.strip():
        return Extraction(reduced.body or None, tuple(notes), reduced.problem)
    reason = f"the body does not parse: {reduced.problem}" if unparsed else reduced.problem
    return Extraction(reduced.body, tuple(notes), reason)


def _resembles_prose(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    prose = sum(
        1
        for line in lines
        if re.match(r"[-*>#\d.\s]*[A-Z\"“‘(]?[\w'’,-]+ [\w'’,-]+", line) and not re.search(r"[=(\[]", line)
    )
    return bool(lines) and prose * 2 >= len(lines)


# -- samples files

_MAX_SAMPLES_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a samples file."""

    task: str  # "" if the line cannot be read
    style: Literal["completion", "solution"]
    text: str
    problem: str = ""  # why the line cannot be used


def read_samples(path: Path) -> list[Sample]:
    r"""Read existing answers from JSON Lines in EvalPlus style: ``task_id`` with ``completion`` or ``solution``.

    Lines end only at ``\n``, because texts may contain U+2028, form feeds and similar characters. Raises UsageError if
    no line is usable.
    """
    found = []
    data = read_bytes(path, "The samples file", most=_MAX_SAMPLES_BYTES).removeprefix(codecs.BOM_UTF8)
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            found.append(_sample(line, f"{path.name}, line {number}"))
    if not found:
        raise UsageError(f"The samples file {path} is empty; it needs one JSON line per sample.")
    if all(sample.problem for sample in found):
        raise UsageError(f"{found[0].problem}.")
    return found


def _sample(line: bytes, location: str) -> Sample:
    try:
        entry = parse_json(line.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError:
        return Sample("", "completion", "", f"{location}: this is not text in UTF-8")
    except TooDeep as problem:
        return Sample("", "completion", "", f"{location}: {problem}")
    except ValueError:
        return Sample("", "completion", "", f"{location}: this is not JSON")
    values = entry if isinstance(entry, dict) else {}
    style: Literal["completion", "solution"] = (
        "solution" if values.get("solution") or "completion" not in values else "completion"
    )
    task, text = values.get("task_id"), values.get(style)
    if isinstance(task, str) and isinstance(text, str):
        return Sample(task, style, text)
    name = task if isinstance(task, str) else ""
    return Sample(name, style, "", f"{location}: it needs task_id and completion or solution as strings")
