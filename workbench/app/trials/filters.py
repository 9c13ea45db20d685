"""What a filter may ask of the trials; agents, models and cases are those that the session has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from workbench.app.toolkit.filters import Filter, Option, Question
from workbench.glyphs import STATES
from workbench.results.trials import TrialLine
from workbench.session.labels import star_first
from workbench.text import shortened

TrialFilter = Filter[TrialLine]
MOST_FILES = 20
"""Files that are offered, those that most trials read; any other is found by its name."""
_BANDS = ((0, 20), (20, 40), (40, 60), (60, 80), (80, 101))


def named(line: TrialLine) -> str:
    """Return the text in which the filter's text is looked for."""
    return f"{line.case} {line.agent} {line.model} {line.tags} {line.error}\n{line.read}"


def _same(read: Callable[[TrialLine], str], value: str) -> Callable[[TrialLine], bool]:
    return lambda line: read(line) == value


def _between(low: float, high: float) -> Callable[[TrialLine], bool]:
    return lambda line: line.share is not None and low <= line.share < high


def _lost(title: str) -> Callable[[TrialLine], bool]:
    return lambda line: any(title == one for one, _ in line.lost)


def _tagged(tag: str) -> Callable[[TrialLine], bool]:
    return lambda line: tag in line.labels


def _has_read(path: str) -> Callable[[TrialLine], bool]:
    return lambda line: path in line.read.split("\n")


def _files(lines: Sequence[TrialLine]) -> tuple[Question[TrialLine], ...]:
    read = Counter(path for line in lines if line.read for path in line.read.split("\n"))
    options = (
        Option(path, shortened(path, 26), f"read {shortened(path, 30)}", _has_read(path))
        for path, _ in read.most_common(MOST_FILES)
    )
    return (Question("read", "file read", tuple(options)),) if read else ()


def _values(key: str, lines: Sequence[TrialLine], read: Callable[[TrialLine], str]) -> Question[TrialLine]:
    values = sorted({read(line) for line in lines}, key=str.lower)
    options = (
        Option(value, shortened(value, 26), f"{key} {shortened(value, 30)}", _same(read, value)) for value in values
    )
    return Question(key, key, tuple(options))


def questions_about(lines: Sequence[TrialLine]) -> tuple[Question[TrialLine], ...]:
    """Return the questions that can be asked of these trials."""
    bands = (
        Option(f"{low}", f"{low} to {min(high, 100)} of 100", f"score {low} to {min(high, 100)}", _between(low, high))
        for low, high in _BANDS
    )
    lost = tuple(
        Option(title, shortened(title, 26), f"lost by {shortened(title, 30)}", _lost(title))
        for title in sorted({title for line in lines for title, _ in line.lost})
    )
    tags = tuple(
        Option(tag, shortened(tag, 26), f"tag {shortened(tag, 30)}", _tagged(tag))
        for tag in star_first({tag for line in lines for tag in line.labels})
    )
    return (
        Question(
            "state",
            "state",
            tuple(
                Option(state, f"{sign} {state}", f"{sign} {state}", _same(lambda line: line.state, state))
                for state, sign in STATES.items()
            ),
        ),
        Question(
            "score",
            "score",
            (
                *bands,
                Option(
                    "part",
                    "tiers unscored",
                    "partly scored",
                    lambda line: line.points is not None and line.share is None,
                ),
                Option("none", "no score", "without a score", lambda line: line.points is None),
            ),
        ),
        Question(
            "grounding",
            "grounding",
            (
                Option("nowhere", "items nowhere", "nowhere > 0", lambda line: bool(line.nowhere)),
                Option("grounded", "none nowhere", "nothing nowhere", lambda line: line.nowhere == 0),
                Option("unknown", "not known", "grounding not known", lambda line: line.nowhere is None),
            ),
        ),
        _values("agent", lines, lambda line: line.agent),
        _values("model", lines, lambda line: line.model),
        _values("case", lines, lambda line: line.case),
        *_files(lines),
        *((_FORKS,) if any(line.parent for line in lines) else ()),
        *((Question("lost", "lost by", lost),) if lost else ()),
        *((Question("tag", "tag", tags),) if tags else ()),
    )


_FORKS: Question[TrialLine] = Question(
    "fork",
    "forks",
    (
        Option("own", "without forks", "without forks", lambda line: not line.parent),
        Option("forks", "forks alone", "forks alone", lambda line: bool(line.parent)),
    ),
)
EVERYTHING: TrialFilter = Filter((), named)
