"""The declaration of a study: a ``study.toml`` as immutable values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Final

from workbench.base import typed_json
from workbench.base.errors import UsageError
from workbench.plans.arguments import study_keys
from workbench.plans.plan import DocumentPlan, RegenerationPlan

AGENTS: Final = "agents"
DOCS: Final = "docs"
PAPER: Final = "paper"
KINDS = (AGENTS, DOCS, PAPER)
EVERY_CASE = "all"
"""The value of ``rows`` that stands for all bundled test cases."""
SESSION, SAMPLES = "session:", "samples:"
"""Prefixes of imported results."""
MOST_CELLS = 10_000


def in_points(measure: str) -> bool:
    """Return whether a measure is in points out of 100, unlike ``pass@k``, which is a share."""
    return not measure.startswith("pass@")


class BadStudy(UsageError):
    """A study's declaration is invalid; the message names the file, the ``key`` and what is ``expected``."""

    key = expected = ""


@dataclass(frozen=True, slots=True)
class StudyColumn:
    """A column: an agent with its model, or a doc system with the evaluator that uses its docs.

    The model "" stands for this machine's default until the study is started. ``source`` says where imported results
    come from: ``session:FILE``.
    """

    system: str
    model: str = ""
    source: str = ""

    @property
    def name(self) -> str:
        """The column's name in sessions and commands: ``white · gpt-4o``, ``none · local · session:FILE``."""
        return " · ".join(filter(None, (self.system, self.model, self.source)))

    @property
    def mark(self) -> str:
        """The ``session:`` or ``samples:`` file with the column's results, or "" if this study generates them."""
        return self.source or (self.model if self.model.startswith(SAMPLES) else "")


PLANS: Final = {AGENTS: DocumentPlan, DOCS: RegenerationPlan}
"""The plan class for each kind of study, whose fields define the keys of ``[limits]`` and ``[settings]``."""
USE: Final = "use"
"""The setting with the reader that measures the READMEs of agents, and the measure."""


def keys_of(kind: str, table: str) -> list[tuple[str, str, type[Any], Any]]:
    """Return the key, the plan's field, the type and the default of everything that a table of a study can set."""
    own = [(USE, "evaluator", str, "")] if (kind, table) == (AGENTS, "settings") else []
    return [*study_keys(PLANS[kind], table), *own]


def _keys(table: str) -> list[tuple[str, type[Any], Any]]:
    return [(key, of, usual) for kind in PLANS for key, _, of, usual in keys_of(kind, table)]


class StudyLimits(make_dataclass("_Limits", _keys("limits"), frozen=True)):  # type: ignore[misc]
    """Limits of each run; 0 means this machine's default, or no limit.

    ``read`` is in characters. ``tasks`` is the number of tasks to use from each source, starting with the first.
    """


class StudySettings(make_dataclass("_Settings", _keys("settings"), frozen=True)):  # type: ignore[misc]
    """Settings of every run of a study, named like the options of ``run`` and ``regenerate``; empty means the default.

    With ``checks``, the README of each trial is checked, which adds the measures ``works`` and ``claims``. ``use`` names
    a reader, which adds the measure ``use``.
    """


@dataclass(frozen=True, slots=True)
class Study:
    """A declared matrix: rows are test cases (``agents``) or sources (``docs``); ``paper`` adds the published tables.

    Imported ``results`` (``session:FILE``) become additional columns. ``spend_limit`` is in US dollars, with 0 for no
    limit.
    """

    name: str
    kind: str
    rows: tuple[str, ...] = ()
    columns: tuple[StudyColumn, ...] = ()
    results: tuple[str, ...] = ()
    repeats: int = 1
    samples: int = 3
    k: tuple[int, ...] = (1,)
    seed: int = 0
    spend_limit: float = 0.0
    limits: StudyLimits = field(default_factory=StudyLimits)
    settings: StudySettings = field(default_factory=StudySettings)
    title: str = ""

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of a cell: ``score`` and those that the settings add, or each ``pass@k``."""
        if self.kind == AGENTS:
            checks = ("works", "claims") if self.settings.checks else ()
            return ("score", *checks, *([USE] if self.settings.use else []))
        return tuple(f"pass@{k}" for k in self.k)

    @property
    def row_noun(self) -> str:
        return "case" if self.kind == AGENTS else "repository"

    @property
    def item_noun(self) -> str:
        return "trial" if self.kind == AGENTS else "task"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> Study:
        """Return a declaration stored in a session. Raises BadStudy if it is damaged."""
        try:
            return typed_json.decode(cls, text)
        except typed_json.WrongForm:
            raise BadStudy("The declaration of a study in this session is damaged; declare it again.") from None


def with_amounts(study: Study, *, repeats: int = 0, samples: int = 0) -> Study:
    """Return a study with a different number of trials per cell or candidates per task; 0 leaves a number unchanged.

    Raises BadStudy.
    """
    for kind, key, number in ((AGENTS, "repeats", repeats), (DOCS, "samples", samples)):
        if number and study.kind != kind:
            raise BadStudy(f"{key} belongs to a study of {kind}; {study.name} is a study of {study.kind}.")
    if samples and study.k[-1] > samples:
        raise BadStudy(f"The study {study.name} has pass@{study.k[-1]}, which is not defined for {samples} samples.")
    return replace(study, repeats=repeats or study.repeats, samples=samples or study.samples)


def column_titles(columns: Sequence[StudyColumn]) -> list[str]:
    """Return short, distinct titles of columns.

    They are the system alone if all columns have one model, or the model alone if all have one system.
    """
    systems, models = {one.system for one in columns}, {one.model for one in columns}
    if len(models) == 1:
        titles = [one.system for one in columns]
    elif len(systems) == 1:
        titles = [one.model or one.system for one in columns]
    else:
        titles = [" · ".join(filter(None, (one.system, one.model))) for one in columns]
    return [
        f"{title} ({Path(one.source).name})" if one.source else title
        for one, title in zip(columns, titles, strict=True)
    ]


def row_titles(rows: Sequence[str]) -> list[str]:
    """Return short titles of rows: the last part of a folder's path, unless two folders share it."""
    short = [Path(row).name if row.startswith(("/", "~", ".")) else row for row in rows]
    counts = Counter(short)
    return [title if counts[title] == 1 and title else row for title, row in zip(short, rows, strict=True)]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class InJson:
    """Mixin for JSON output of the fields, or of the names in ``JSON``.

    ``path:name`` renames a value, and ``path?`` is null if the value is empty.
    """

    __slots__ = ()
    JSON: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        names = self.JSON.split() or [item.name for item in fields(self)]  # type: ignore[arg-type]
        return dict(_json_pair(self, *name.partition(":")) for name in names)


def _json_pair(one: object, path: str, _: str, name: str) -> tuple[str, Any]:
    value = _in_json(attrgetter(path.rstrip("?"))(one))
    return name or path.rstrip("?"), value or None if path.endswith("?") else value


def _in_json(value: Any) -> Any:
    if isinstance(value, StudyColumn):
        return value.name
    if isinstance(value, Mapping):
        return {key: _in_json(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_in_json(one) for one in value]
    return value.to_json() if hasattr(value, "to_json") else value
