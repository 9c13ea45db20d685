"""What a study is asked for: a ``study.toml``, read key by key into frozen values, with one sentence for every mistake."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from workbench import numbers
from workbench.agents.names import current_name
from workbench.agents.remote_names import is_remote
from workbench.catalog.cases import BadCase
from workbench.catalog.reading import Table, load_toml
from workbench.errors import UsageError

AGENTS: Final = "agents"
DOCS: Final = "docs"
PAPER: Final = "paper"
KINDS = (AGENTS, DOCS, PAPER)
EVERY_CASE = "all"
"""Stands in ``rows`` for all cases that come with the program."""
SESSION, SAMPLES = "session:", "samples:"
"""What begins a result of others."""
MOST_CELLS = 10_000

_COLUMN_KEYS = {AGENTS: ("agents", "models"), DOCS: ("docs", "evaluators")}
_NUMBERS = {AGENTS: ("repeats",), DOCS: ("samples",)}
_LIMITS = {AGENTS: ("steps", "read", "answer_tokens"), DOCS: ("tasks",)}
_SETTINGS = {
    AGENTS: ("judges", "judge_repeats", "rubrics", "checks"),
    DOCS: ("docs_scope", "selection", "tasks", "prompt", "context", "extra_body", "sandbox", "controls"),
}
_LISTS = frozenset({"judges", "rubrics", "tasks"})


def in_points(measure: str) -> bool:
    """Return whether a measure is in points of 100; ``pass@k`` is a share."""
    return not measure.startswith("pass@")


class BadStudy(UsageError):
    """A study cannot be what it is declared as; the message names the file, the key and what is expected."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: an agent with its model, or a doc system with the evaluator that works from its docs.

    Attributes:
        system: Name of the agent, or of the doc system as ``--docs`` takes it.
        model: Model of the agent, or the evaluator; "" is the default of the machine, until the study is ordered.
        source: "" where the study executes it, else where the results of others are: ``session:FILE``.
    """

    system: str
    model: str = ""
    source: str = ""

    @property
    def name(self) -> str:
        """How it is called in a session and on the command line: ``white · gpt-4o``, ``none · local · session:FILE``."""
        return " · ".join(filter(None, (self.system, self.model, self.source)))

    @property
    def mark(self) -> str:
        """Whose results it has: the ``session:`` or ``samples:`` file, "" where models were asked by this study."""
        return self.source or (self.model if self.model.startswith(SAMPLES) else "")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each run; 0 is the default of the machine, or none.

    Attributes:
        steps: Steps after which an agent must have answered.
        read: Characters that an agent reads at once.
        answer_tokens: Tokens of an agent's answer.
        tasks: Only so many tasks of each source, the first ones.
    """

    steps: int = 0
    read: int = 0
    answer_tokens: int = 0
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """What every run of a study is made with, as the options of ``run`` and ``regenerate`` have it; empty is the default.

    ``checks``: the README of each trial is checked, which gives the measures ``works`` and ``claims``.
    """

    judges: tuple[str, ...] = ()
    judge_repeats: int = 1
    rubrics: tuple[str, ...] = ()
    checks: bool = False
    docs_scope: str = ""
    selection: str = ""
    tasks: tuple[str, ...] = ()
    prompt: str = ""
    context: str = ""
    extra_body: str = ""
    sandbox: str = ""
    controls: bool = True


@dataclass(frozen=True, slots=True)
class Study:
    """A declared matrix.

    Attributes:
        name: A short name; a session has one study of a name.
        kind: ``agents`` (rows are test cases), ``docs`` (rows are sources) or ``paper`` (the published tables, read-only).
        rows: Test cases or sources, in the order in which they are shown.
        columns: What is executed on each row.
        results: Results of others that become further columns: ``session:FILE``.
        repeats: Trials of each cell of ``agents``.
        samples: Candidates per task of each cell of ``docs``.
        k: The k of pass@k.
        seed: Of resamples and random permutations.
        spend_limit: US dollars that all runs together may spend; 0 = no limit.
        limits: Of each run.
        settings: Of each run.
        title: A sentence on what it is for.
    """

    name: str
    kind: str
    rows: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    results: tuple[str, ...] = ()
    repeats: int = 1
    samples: int = 3
    k: tuple[int, ...] = (1,)
    seed: int = 0
    spend_limit: float = 0.0
    limits: Limits = field(default_factory=Limits)
    settings: Settings = field(default_factory=Settings)
    title: str = ""

    @property
    def measures(self) -> tuple[str, ...]:
        """What a cell is measured by: ``score`` and, where READMEs are checked, ``works`` and ``claims``; or ``pass@k`` for each k."""
        if self.kind == AGENTS:
            return ("score", "works", "claims") if self.settings.checks else ("score",)
        return tuple(f"pass@{k}" for k in self.k)

    @property
    def row_noun(self) -> str:
        """What a row is: ``case`` or ``repository``."""
        return "case" if self.kind == AGENTS else "repository"

    def to_json(self) -> dict[str, Any]:
        """Return the declaration as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> Study:
        """Return the declaration that a session has.

        Raises:
            BadStudy: It is damaged.
        """
        try:
            values = json.loads(text)
            known = {item.name for item in fields(cls)}
            given = {name: _frozen(value) for name, value in values.items() if name in known}
            given["columns"] = tuple(Column(**one) for one in given.get("columns", ()))
            given["limits"] = Limits(**given.get("limits", {}))
            given["settings"] = Settings(**{name: _frozen(one) for name, one in given.get("settings", {}).items()})
            return cls(**given)
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise BadStudy("The declaration of a study in this session is damaged; declare it anew.") from None


def with_amounts(study: Study, *, repeats: int = 0, samples: int = 0) -> Study:
    """Return a study with another number of trials per cell or of candidates per task; 0 leaves what it declares.

    Raises:
        BadStudy: A study of this kind has no such number, or a k is above the samples.
    """
    for kind, key, number in ((AGENTS, "repeats", repeats), (DOCS, "samples", samples)):
        if number and study.kind != kind:
            raise BadStudy(f"{key} belongs to a study of {kind}; {study.name} is one of {study.kind}.")
    if samples and study.k[-1] > samples:
        raise BadStudy(f"The study {study.name} has pass@{study.k[-1]}, which {samples} samples do not define.")
    return replace(study, repeats=repeats or study.repeats, samples=samples or study.samples)


def column_titles(columns: Sequence[Column]) -> list[str]:
    """Return what tells columns apart, shortly: the system alone where all have one model, the model alone likewise."""
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
    """Return what rows are called where there is little room: of a folder its last part, unless two are called so."""
    short = [Path(row).name if row.startswith(("/", "~", ".")) else row for row in rows]
    counts = Counter(short)
    return [title if counts[title] == 1 and title else row for title, row in zip(short, rows, strict=True)]


def read_study_file(file: Path) -> Study:
    """Read a ``study.toml``.

    Raises:
        BadStudy: It cannot be read, or something in it is misspelt, missing, of the wrong type, or impossible.
    """
    try:
        return parse_study(load_toml(file), file)
    except BadCase as problem:
        raise BadStudy(str(problem)) from None


def parse_study(values: Mapping[str, object], file: Path) -> Study:
    """Return the study that a TOML table declares; names are not looked up, see :func:`workbench.studies.checking.check_study`.

    Args:
        values: The table.
        file: Where it comes from, for messages.

    Raises:
        BadStudy: See :func:`read_study_file`.
    """
    try:
        return _parsed(values, file)
    except BadCase as problem:
        raise BadStudy(str(problem)) from None


def _parsed(values: Mapping[str, object], file: Path) -> Study:
    kind = values.get("kind")
    common = ("name", "title", "kind")
    if kind not in KINDS:
        table = Table({"kind": kind} if kind is not None else {}, file, ("kind",))
        table.text("kind")
        raise table.wrong("kind", f"one of {', '.join(KINDS)}")
    if kind == PAPER:
        table = Table(values, file, common)
        return Study(table.text("name"), PAPER, title=table.text("title", ""))
    assert isinstance(kind, str)
    own = (*_NUMBERS[kind], *(("k",) if kind == DOCS else ()))
    table = Table(
        values, file, (*common, "rows", "columns", "results", "seed", "spend_limit", "limits", "settings", *own)
    )
    name = table.text("name").strip()
    if not name.isprintable() or "/" in name or len(name) > 60:
        raise table.wrong("name", "a name of at most 60 characters on one line, without '/'")
    samples = _whole(table, values, "samples", 3, 1) if kind == DOCS else 1
    study = Study(
        name=name,
        kind=kind,
        title=table.text("title", ""),
        rows=_distinct(table, "rows"),
        columns=_columns(table, kind, file),
        results=_results(table, kind),
        repeats=_whole(table, values, "repeats", 1, 1, numbers.MOST_REPEATS) if kind == AGENTS else 1,
        samples=samples,
        k=_ks(table, values, samples) if kind == DOCS else (1,),
        seed=_whole(table, values, "seed", 0, 0),
        spend_limit=_dollars(table, values),
        limits=Limits(**_numbers(table, "limits", _LIMITS[kind], file)),
        settings=_settings(table, kind, file),
    )
    if not study.rows:
        raise table.wrong("rows", f"a list of {'test cases' if kind == AGENTS else 'sources'}, and it names none")
    if not study.columns and not study.results:
        raise BadStudy(
            f"{file}: the study has no column; name {' and '.join(_COLUMN_KEYS[kind])} under [columns], or results of others."
        )
    if len(study.rows) * len(study.columns) > MOST_CELLS:
        raise BadStudy(
            f"{file}: a study has at most {MOST_CELLS:,} cells, and this one {len(study.rows) * len(study.columns):,}."
        )
    return study


def _columns(table: Table, kind: str, file: Path) -> tuple[Column, ...]:
    systems_key, models_key = _COLUMN_KEYS[kind]
    given = table.table("columns")
    if given is None:
        return ()
    inner = Table(given, file, (systems_key, models_key), "columns")
    systems, models = inner.texts(systems_key), inner.texts(models_key)
    if not systems:
        raise inner.wrong(systems_key, "a list that names at least one")
    named = [current_name(one.strip()) if kind == AGENTS else one.strip() for one in systems]
    # Whom an agent that is reached over A2A asks is its own affair: it is one column, whatever models the others have.
    asked = {system: ("",) if kind == AGENTS and is_remote(system) else models or ("",) for system in named}
    columns = [Column(system, model.strip()) for system in named for model in asked[system]]
    for number, column in enumerate(columns):
        if column in columns[:number]:
            raise BadStudy(f"{file}: the column '{column.name}' is there twice; each is named once.")
    return tuple(columns)


def _results(table: Table, kind: str) -> tuple[str, ...]:
    found = _distinct(table, "results")
    for one in found:
        if kind == DOCS and one.startswith(SAMPLES):
            raise table.wrong(
                "results", f'files of sessions; answers from a file are an evaluator: evaluators = ["{one}"]'
            )
        if not one.startswith(SESSION) or not one.removeprefix(SESSION).strip():
            raise table.wrong("results", 'a list of sessions, such as ["session:others.session"]')
    return found


def _distinct(table: Table, key: str) -> tuple[str, ...]:
    found = tuple(one.strip() for one in table.texts(key))
    for number, one in enumerate(found):
        if one in found[:number]:
            raise table.wrong(key, f"a list in which each stands once, and '{one}' is there twice")
    return found


def _ks(table: Table, values: Mapping[str, object], samples: int) -> tuple[int, ...]:
    given = values.get("k")
    if given is None:
        return tuple(k for k in (1, 3) if k <= samples)
    listed = given if isinstance(given, list) else [given]
    try:
        ks = tuple(sorted({numbers.whole(one, 1) for one in listed if not isinstance(one, str)}))
    except ValueError as expected:
        raise table.wrong("k", str(expected)) from None
    if not ks or any(isinstance(one, str) for one in listed):
        raise table.wrong("k", "a list of whole numbers, such as [1, 3]")
    if ks[-1] > samples:
        raise table.wrong("k", f"at most the number of samples, for pass@{ks[-1]} of {samples} samples is not defined")
    return ks


def _whole(
    table: Table, values: Mapping[str, object], key: str, default: int, least: int, most: int = numbers.MOST_ITEMS
) -> int:
    value = values.get(key, default)
    try:
        if isinstance(value, str):
            raise ValueError("a number, not a text")
        return numbers.whole(value, least, most)
    except ValueError as expected:
        raise table.wrong(key, str(expected)) from None


def _dollars(table: Table, values: Mapping[str, object]) -> float:
    value = values.get("spend_limit", 0.0)
    try:
        if isinstance(value, str):
            raise ValueError("a number, not a text")
        return numbers.amount(value)
    except ValueError as expected:
        raise table.wrong("spend_limit", str(expected)) from None


def _numbers(table: Table, key: str, known: Sequence[str], file: Path) -> dict[str, int]:
    given = table.table(key) or {}
    inner = Table(given, file, known, key)
    return {name: _whole(inner, given, name, 0, 0, 1_000_000_000) for name in given}


def _settings(table: Table, kind: str, file: Path) -> Settings:
    given = table.table("settings") or {}
    inner = Table(given, file, _SETTINGS[kind], "settings")
    found: dict[str, Any] = {}
    for name in given:
        if name in _LISTS:
            found[name] = inner.texts(name)
        elif name in ("controls", "checks"):
            found[name] = inner.flag(name)
        elif name == "judge_repeats":
            found[name] = _whole(inner, given, name, 1, 1, numbers.MOST_REPEATS)
        else:
            found[name] = inner.text(name, "").strip()
    return Settings(**found)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
