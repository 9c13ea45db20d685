"""Separate the reasoning in a model's text from its answer.

Servers without a reasoning parser leave the reasoning in the text, between the model's tags: ``<think>…</think>``,
``[THINK]…[/THINK]``, ``<seed:think>``, ``<|begin_of_thought|>``, ``◁think▷``, channels as in Harmony, or only a closing
tag if the prompt ended with the opening one. Recorded answers contain the whole text. A tag inside code, a quotation or
JSON is part of the answer.
"""

from __future__ import annotations

import json
import re
import textwrap
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from workbench.base import python_syntax

_KIND = (
    r"think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratch[_ -]?pad|inner[_ -]?monologue"
    r"|chain[_ -]?of[_ -]?thoughts?"
)
_MARK = re.compile(
    r"(?P<open><[|｜]?|&lt;|\[|◁|⟨|【)\s*(?P<slash>/)?\s*"
    r"(?P<prefix>(?:begin|start|end)_?(?:of_)?|[a-z]+:|[a-z]+_(?=think))?"
    rf"(?P<kind>{_KIND})(?P<suffix>_(?:start|begin|end)|:[\w.-]+)?"
    r"(?:\s+[\w-]+\s*=[^<>\[\]\n]{0,200})?\s*(?P<empty>/)?\s*(?:[|｜]?>|&gt;|\](?!\()|▷|⟩|】)"
    r"|(?P<begins><\|channel>\s*(?:thought|analysis)\b|<unused94>(?:thought\b)?|^here(?:'s| is) my thought process:)"
    r"|(?P<ends><channel\|>|<unused95>|^here(?:'s| is) my response:)",
    re.IGNORECASE | re.MULTILINE,
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"|<\|start\|>\s*assistant\s*<\|message\|>|\A\s*(?P<bare>analysis|commentary|final)\s*<\|message\|>",
    re.IGNORECASE,
)
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call)\|>.*", re.DOTALL)
# Harmony without its special tokens, which some servers remove.
_GLUED = re.compile(r"\A\s*(?:assistant)?analysis(?=[A-Z]|.*assistantfinal)", re.DOTALL)
_TURN = re.compile(r"\A(?:\s*(?:<\|(?:im_start|assistant|(?:start|end)_header_id)\|>|assistant\b(?=\s*<)))+\s*")
_ANSWER = r"<\|?(?:begin_of_|start_)?(?P<name>answer|final_answer|response|solution|output)\|?>"
_BEGINS = re.compile(rf"^[ \t]*{_ANSWER}", re.MULTILINE | re.IGNORECASE)
_WRAPPED = re.compile(
    rf"\A\s*{_ANSWER}(?P<text>.*?)"
    r"(?:<(?:/|\|end_(?:of_)?)(?P=name)\|?>\s*)?\Z",
    re.DOTALL | re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$", re.MULTILINE)
_TRIPLE = r'"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''"
_LITERAL = re.compile(_TRIPLE + r'|"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'|\#[^\n]*", re.DOTALL)
_QUOTATION = re.compile(_TRIPLE + r'|"[^"\n]*"|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)', re.DOTALL)
_PAIRS = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "(": ")"}
_MOST_BRACES = 200


@dataclass(frozen=True, slots=True)
class Split:
    """A model's answer and its reasoning; the answer is "" while the reasoning is not ``finished``."""

    answer: str
    reasoning: str = ""
    finished: bool = True


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    closes: bool
    kind: str


def split_reasoning(text: str) -> Split:
    """Split a model's text into its answer and the reasoning before, within or after it; never raises."""
    text = _TURN.sub("", text, count=1)
    if _GLUED.match(text):
        thought, final, answer = text.rpartition("assistantfinal")
        return Split(answer, thought) if final else Split("", text, finished=False)
    found = [one for one in _MARK.finditer(text) if one["empty"] is None]
    channels = list(_CHANNEL.finditer(text))
    if not found and not channels:
        return Split(text)
    starts = text.lstrip().startswith(tuple(one[0] for one in [*found[:1], *channels[:1]]))
    if not starts and is_python(text):
        return Split(text)
    quoted = _QuotedSpans(text)
    channels = [one for one in channels if not quoted.holds(one.start())]
    if channels:
        return _final(text, channels)
    marks = [_Mark(one.start(), one.end(), _closes(one), (one["kind"] or "").lower()) for one in found]
    return _between(text, marks, quoted)


def _closes(mark: re.Match[str]) -> bool:
    parts = ((mark["prefix"] or "") + (mark["suffix"] or "")).lower()
    return bool(mark["slash"] or mark["ends"]) or "end" in parts.replace("_", " ").split() or parts.startswith("end")


def _final(text: str, channels: list[re.Match[str]]) -> Split:
    """Return the last final message; text before the first header is reasoning that started in the prompt."""
    reasoning, answer = text[: channels[0].start()], None
    for one, following in zip(channels, [*channels[1:], None], strict=True):
        message = text[one.end() : following.start() if following else len(text)]
        message = _CHANNEL_ENDS.sub("", message)
        if (one["name"] or one["bare"] or "final").lower() == "final":
            answer = message
        else:
            reasoning += message
    return Split("", reasoning, finished=False) if answer is None else Split(answer, reasoning)


def _between(text: str, marks: list[_Mark], quoted: _QuotedSpans) -> Split:
    plain = [one for one in marks if not quoted.holds(one.start, one.end)]
    answer_parts: list[str] = []
    reasoning: list[str] = []
    position = 0
    for mark in plain:
        if mark.start < position:
            continue
        before = text[position : mark.start]
        if mark.closes:
            if _is_boundary(text, mark):
                reasoning += [*answer_parts, before]
                answer_parts, position = [], mark.end
            continue
        first = not "".join([*answer_parts, before]).strip()
        if not (first or _starts_line(text, mark) or _ends_line(text, mark)):
            continue
        end = _end_of(mark, plain) or _end_of(mark, [one for one in marks if not quoted.directly(one.start, one.end)])
        if end is None and (begins := _BEGINS.search(text, mark.end)) and not quoted.holds(begins.start()):
            end = _Mark(begins.start(), begins.start(), closes=True, kind=mark.kind)
        if end is None and not first and not _starts_line(text, mark):
            continue
        answer_parts.append(before)
        reasoning.append(text[mark.end : end.start if end else len(text)])
        position = end.end if end else len(text)
        if end is None and first:
            return Split("", "".join(reasoning), finished=False)
    answer = "".join([*answer_parts, text[position:]])
    if not reasoning:
        return Split(text)
    wrapped = _WRAPPED.match(answer)
    return Split(wrapped["text"] if wrapped else answer, "\n".join(one.strip("\n") for one in reasoning))


def _end_of(mark: _Mark, marks: list[_Mark]) -> _Mark | None:
    """Return the closing tag of a reasoning block: the balancing one, or the first of its kind or of any kind."""
    after = [one for one in marks if one.start >= mark.end]
    depth = 1
    for one in after:
        if one.kind == mark.kind:
            depth += -1 if one.closes else 1
            if not depth:
                return one
    closing = [one for one in after if one.closes]
    return next((one for one in closing if one.kind == mark.kind), closing[0] if closing else None)


def _starts_line(text: str, mark: _Mark) -> bool:
    return not text[text.rfind("\n", 0, mark.start) + 1 : mark.start].strip()


def _ends_line(text: str, mark: _Mark) -> bool:
    end = text.find("\n", mark.end)
    return not text[mark.end : end if end >= 0 else len(text)].strip()


def _is_boundary(text: str, mark: _Mark) -> bool:
    """Return whether an unpaired closing tag ends reasoning; within a sentence, it is only mentioned."""
    return _starts_line(text, mark) or _ends_line(text, mark) or not text[mark.start - 1].isspace()


def is_python(text: str) -> bool:
    """Return whether a text parses as a Python module or as statements in a function."""
    for source in (textwrap.dedent(text), "async def _():\n" + textwrap.indent(textwrap.dedent(text), " ")):
        try:
            python_syntax.parse(source)
        except python_syntax.UNREADABLE:
            continue
        return True
    return False


class _QuotedSpans:
    """The parts of a text that are code, quotations or JSON, where tags have no meaning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: list[tuple[int, int]] = []
        position = 0
        while opening := _FENCE.search(text, position):
            closing = re.compile(rf"^[ \t]*{opening['mark'][0]}{{{len(opening['mark'])},}}[ \t]*$", re.MULTILINE)
            end = closing.search(text, opening.end())
            self._add(_QUOTATION, position, opening.start())
            self._add(_LITERAL, opening.end(), end.start() if end else len(text))
            position = end.end() if end else len(text)
        self._add(_QUOTATION, position, len(text))
        self._add_json()
        self._spans.sort()
        self._starts = [start for start, _ in self._spans]
        self._reach = list(accumulate((end for _, end in self._spans), max))

    def _add(self, pattern: re.Pattern[str], start: int, end: int) -> None:
        self._spans += [one.span() for one in pattern.finditer(self._text, start, end)]

    def _add_json(self) -> None:
        decoder, position = json.JSONDecoder(strict=False), 0
        for _ in range(_MOST_BRACES):
            position = self._text.find("{", position)
            if position < 0:
                return
            try:
                end = decoder.raw_decode(self._text, position)[1]
                self._spans.append((position, end))
            except (ValueError, RecursionError):
                end = position + 1
            position = end

    def holds(self, start: int, end: int | None = None) -> bool:
        """Return whether a tag is within such a part or directly inside quotation marks."""
        place = bisect_right(self._starts, start)
        inside = place > 0 and self._reach[place - 1] > start
        return inside or (end is not None and self.directly(start, end))

    def directly(self, start: int, end: int) -> bool:
        closing = _PAIRS.get(self._text[start - 1 : start])
        return closing is not None and self._text[end : end + 1] == closing
