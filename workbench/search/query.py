"""The query language: words, phrases in quotation marks, and conditions such as ``score:<60``."""

from __future__ import annotations

import difflib
import re
import time
from dataclasses import dataclass

from workbench.base.errors import UsageError

FIELDS = {
    "kind": "where the text is: readme, step, file, message, reason, docstring, candidate, failing, remark, name",
    "agent": "the agent",
    "model": "the agent's model, or the evaluator",
    "case": "the case or source",
    "state": "done, failed, running …",
    "verdict": "passed, failed, timeout …",
    "error": "the exception of a failing test, or the error of a trial: error:TypeError",
    "file": "a file that the agent read",
    "lost": "a criterion that lost points",
    "tag": "a tag of a trial, its parts, or a task; tag:★ is starred",
    "score": "points out of 100, for trials whose tiers are all scored: score:<60, score:40..60",
    "cost": "US dollars",
    "date": "the day it ended: date:>2026-11-01",
}
"""The fields that conditions can use, with their help texts."""

MAX_TERMS = 50
"""Maximum number of words, phrases and conditions in a query."""
NUMBERS = frozenset({"score", "cost", "date"})
_TOKEN = re.compile(r'(?P<field>[a-z]+):(?!:)(?P<value>=?"[^"]*"?|\S+)|"(?P<phrase>[^"]*)"?|(?P<word>\S+)')
_NUMBER = re.compile(r"(?P<sign><=|>=|<|>|=)?(?P<low>[^.\s]*(?:\.\d+)?)(?:\.\.(?P<high>\S+))?")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a field: a case-insensitive substring, the whole value if ``exact``, or bounds."""

    field: str
    text: str = ""
    low: float | None = None
    high: float | None = None
    strict: bool = False
    exact: bool = False

    def holds(self, number: float | None) -> bool:
        if number is None:
            return False
        if self.low is not None and (number < self.low or (self.strict and number == self.low)):
            return False
        return not (self.high is not None and (number > self.high or (self.strict and number == self.high)))


@dataclass(frozen=True, slots=True)
class Query:
    """A query: a text must contain all ``words`` (words and phrases) and satisfy all conditions."""

    words: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.conditions)

    def match(self) -> str:
        """Return the words as an FTS5 expression: each word is a phrase of its parts, and the last part is a prefix."""
        parts = []
        for word in self.words:
            found = _WORD.findall(word)
            if found:
                parts.append('"' + " ".join(found) + '"' + ("" if word.endswith(" ") else " *"))
        return " AND ".join(parts)

    def pattern(self) -> re.Pattern[str] | None:
        """Return a pattern that matches the words in the same way as the index, or None if there are no words."""
        parts = [
            r"(?<![^\W_])" + r"[\W_]+?".join(map(re.escape, found))
            for word in self.words
            if (found := _WORD.findall(word))
        ]
        return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def parse(text: str) -> Query:
    """Parse a query.

    Raises:
        UsageError: A condition is invalid; the message describes the valid form.
    """
    words: list[str] = []
    conditions: list[Condition] = []
    for found in _TOKEN.finditer(text):
        field, value = found["field"], (found["value"] or "").strip('"')
        if field is None:
            word = found["phrase"] if found["phrase"] is not None else found["word"]
            if _WORD.search(word):
                words.append(word)
        elif field in NUMBERS:
            conditions.append(_bounds(field, value))
        elif field in FIELDS:
            text_of, exact = value.removeprefix("=").strip('"'), value.startswith("=")
            if text_of:
                conditions.append(Condition(field, text_of, exact=exact))
        elif near := difflib.get_close_matches(field, FIELDS, 1, 0.75):
            raise UsageError(f"There is no field {field!r}; did you mean {near[0]!r}?")
        else:
            words.append(found[0])
        if len(words) + len(conditions) > MAX_TERMS:
            raise UsageError(f"A query has at most {MAX_TERMS} words and conditions.")
    return Query(tuple(words), tuple(conditions))


def _bounds(field: str, text: str) -> Condition:
    found = _NUMBER.fullmatch(text)
    number = _day if field == "date" else float
    expected = "a day such as >2026-11-01" if field == "date" else "a number such as <60 or 40..60"
    try:
        if found is None:
            raise ValueError(text)
        low, high, sign = number(found["low"]), found["high"], found["sign"]
        if high is not None:
            if sign:
                raise ValueError(text)
            return Condition(field, low=low, high=number(high) + (_DAY if field == "date" else 0))
    except (ValueError, OverflowError):
        raise UsageError(f"{field}: takes {expected}.") from None
    after = low + _DAY if field == "date" else low
    match sign:
        case "<":
            return Condition(field, high=low, strict=True)
        case "<=":
            return Condition(field, high=after)
        case ">":
            return Condition(field, low=after, strict=field != "date")
        case ">=":
            return Condition(field, low=low)
    return Condition(field, low=low, high=after)


_DAY = 86_400.0


def _day(text: str) -> float:
    return time.mktime(time.strptime(text, "%Y-%m-%d"))
