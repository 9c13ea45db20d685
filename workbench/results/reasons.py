"""Why candidates have no verdict: equal causes counted together, whatever numbers and ids their sentences hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.text import plural
from workbench.session.groups import OF_GROUP, Group

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

# Ids of requests, ports, seconds, dates: every run of word characters that holds a digit, but for the status of HTTP.
_CHANGING = re.compile(r"(?<!status )(?<!code: )\b[\w-]*\d[\w-]*(?:[.:]\d[\w-]*)*")


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause: its first sentence, and how many items failed by it."""

    sentence: str
    count: int

    def __str__(self) -> str:
        return f"{plural(self.count, 'error')}: {self.sentence}"

    def to_json(self) -> dict[str, object]:
        return {"sentence": self.sentence, "count": self.count}


def kind_of(sentence: str) -> str:
    """Return what two sentences about one cause have in common."""
    return _CHANGING.sub("#", sentence)


def counted(sentences: Iterable[tuple[str, int]]) -> tuple[Reason, ...]:
    """Return the causes of (sentence, count) pairs, the most frequent first."""
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    for sentence, count in sentences:
        kind = kind_of(sentence)
        first.setdefault(kind, sentence)
        counts[kind] = counts.get(kind, 0) + count
    return tuple(Reason(first[kind], count) for kind, count in sorted(counts.items(), key=lambda item: -item[1]))


def error_reasons(reader: SessionReader, run_id: str, group: Group) -> tuple[Reason, ...]:
    """Return why samples of a group have no verdict; controls are left out."""
    rows = reader.query(
        "SELECT verdict_reason, count(*) FROM tasks JOIN candidates ON task_id = tasks.id WHERE tasks.run_id = ? "
        f"AND control = 0 AND verdict = 'error' AND {OF_GROUP} GROUP BY verdict_reason ORDER BY min(at)",
        (run_id, *group.arguments),
    )
    return counted((str(sentence or "no reason was recorded"), int(count)) for sentence, count in rows)
