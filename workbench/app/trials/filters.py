"""The filter facets of trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from workbench.app.toolkit.filters import Filter, FilterFacet, FilterOption
from workbench.base.glyphs import STATES
from workbench.base.text import shortened
from workbench.results.trials import TrialLine
from workbench.session.labels import star_first

TrialFilter = Filter[TrialLine]
MOST_FILES = 20
"""Maximum number of files offered, the most read ones; the name field finds the others."""
_BANDS = ((0, 20), (20, 40), (40, 60), (60, 80), (80, 101))


def named(line: TrialLine) -> str:
    return f"{line.case} {line.agent} {line.model} {line.tags} {line.error}\n{line.read}"


def _option(value: str, said: str, rule: Callable[[TrialLine], bool]) -> FilterOption[TrialLine]:
    return FilterOption(value, shortened(value, 26), f"{said} {shortened(value, 30)}", rule)


def _values(key: str, read: Callable[[TrialLine], str], lines: Sequence[TrialLine]) -> FilterFacet[TrialLine]:
    values = sorted({read(line) for line in lines}, key=str.lower)
    options = (_option(value, key, lambda line, value=value: read(line) == value) for value in values)  # type: ignore[misc]
    return FilterFacet(key, key, tuple(options))


def _several(
    key: str, title: str, said: str, values: Iterable[str], read: Callable[[TrialLine], Collection[str]]
) -> tuple[FilterFacet[TrialLine], ...]:
    """Return a facet for a multi-valued property, none if no row has a value."""
    options = tuple(_option(value, said, lambda line, value=value: value in read(line)) for value in values)  # type: ignore[misc]
    return (FilterFacet(key, title, options),) if options else ()


def _state(state: str, sign: str) -> FilterOption[TrialLine]:
    return FilterOption(state, f"{sign} {state}", f"{sign} {state}", lambda line: line.state == state)


def _band(low: int, high: int) -> FilterOption[TrialLine]:
    return FilterOption(
        f"{low}",
        f"{low} to {min(high, 100)} of 100",
        f"score {low} to {min(high, 100)}",
        lambda line: line.share is not None and low <= line.share < high,
    )


def questions_about(lines: Sequence[TrialLine]) -> tuple[FilterFacet[TrialLine], ...]:
    read = Counter(path for line in lines if line.read for path in line.read.split("\n"))
    files = (path for path, _ in read.most_common(MOST_FILES))
    lost = sorted({title for line in lines for title, _ in line.lost})
    tags = star_first({tag for line in lines for tag in line.labels})
    return (
        FilterFacet("state", "state", tuple(_state(state, sign) for state, sign in STATES.items())),
        FilterFacet("score", "score", (*(_band(low, high) for low, high in _BANDS), *_SCORES)),
        _GROUNDING,
        _values("agent", lambda line: line.agent, lines),
        _values("model", lambda line: line.model, lines),
        _values("case", lambda line: line.case, lines),
        *_several("read", "file read", "read", files, lambda line: line.read.split("\n")),
        *((_FORKS,) if any(line.parent for line in lines) else ()),
        *_several("lost", "lost by", "lost by", lost, lambda line: [title for title, _ in line.lost]),
        *_several("tag", "tag", "tag", tags, lambda line: line.labels),
    )


_SCORES: tuple[FilterOption[TrialLine], ...] = (
    FilterOption(
        "part", "tiers unscored", "partly scored", lambda line: line.points is not None and line.share is None
    ),
    FilterOption("none", "no score", "without a score", lambda line: line.points is None),
)
_GROUNDING: FilterFacet[TrialLine] = FilterFacet("grounding", "grounding", (
    FilterOption("nowhere", "items nowhere", "nowhere > 0", lambda line: bool(line.nowhere)),
    FilterOption("grounded", "none nowhere", "nothing nowhere", lambda line: line.nowhere == 0),
    FilterOption("unknown", "not known", "grounding not known", lambda line: line.nowhere is None),
))  # fmt: skip
_FORKS: FilterFacet[TrialLine] = FilterFacet("fork", "forks", (
    FilterOption("own", "without forks", "without forks", lambda line: not line.parent),
    FilterOption("forks", "forks only", "forks only", lambda line: bool(line.parent)),
))  # fmt: skip
EVERYTHING: TrialFilter = Filter((), named)
