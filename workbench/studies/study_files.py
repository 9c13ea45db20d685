"""Read and write studies as ``study.toml`` files, and find the packaged ones.

Files are read key by key, and every mistake is reported in one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from workbench.agents.names import current_name, is_remote
from workbench.base import numbers
from workbench.base.files import expanded, shown
from workbench.catalog.case_files import BadCase, TomlTable, load_toml
from workbench.plans.arguments import arguments_of
from workbench.studies.declaration import (
    AGENTS,
    DOCS,
    KINDS,
    MOST_CELLS,
    PAPER,
    PLANS,
    SAMPLES,
    SESSION,
    BadStudy,
    Study,
    StudyColumn,
    StudyLimits,
    StudySettings,
    keys_of,
)

_N = TypeVar("_N", int, float)
_FOLDER = Path(__file__).parent / "packaged"
_COLUMN_KEYS = {AGENTS: ("agents", "models"), DOCS: ("docs", "evaluators")}
_NUMBERS = {AGENTS: ("repeats",), DOCS: ("samples", "k"), PAPER: ()}


def packaged_studies() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def study_named(text: str) -> Study:
    """Return the study with a name, or the one in a file. Raises BadStudy if neither exists."""
    if text in packaged_studies():
        return read_study_file(_FOLDER / f"{text}.toml")
    path = expanded(text)
    if not path.exists():
        raise BadStudy(
            f"There is no study and no file {shown(text)!r}; known studies: {', '.join(packaged_studies())}, or a study.toml "
            "of your own (docs/guides/studies.md)."
        )
    return read_study_file(path)


# -- reading


def read_study_file(file: Path) -> Study:
    """Read a ``study.toml``. Raises BadStudy if a key is misspelt or missing, or if a value is invalid."""
    try:
        values = load_toml(file)
    except BadCase as problem:
        raise BadStudy(str(problem)) from None
    return parse_study(values, file)


def parse_study(values: Mapping[str, object], file: Path) -> Study:
    """Return the study that a TOML table declares, without looking up any names; messages mention ``file``.

    Raises BadStudy.
    """
    try:
        return _parsed(values, file)
    except BadCase as problem:
        found = BadStudy(str(problem))
        found.key, found.expected = problem.key, problem.expected
        raise found from None


def _parsed(values: Mapping[str, object], file: Path) -> Study:
    kind = values.get("kind")
    common = ("name", "title", "kind")
    if kind not in KINDS:
        table = TomlTable({"kind": kind} if kind is not None else {}, file, ("kind",))
        table.text("kind")
        raise table.wrong("kind", f"one of {', '.join(KINDS)}")
    if kind == PAPER:
        table = TomlTable(values, file, common)
        return Study(table.text("name"), PAPER, title=table.text("title", ""))
    assert isinstance(kind, str)
    own = ("rows", "columns", "results", "seed", "spend_limit", "limits", "settings", *_NUMBERS[kind])
    table = TomlTable(values, file, (*common, *own))
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
        spend_limit=_number(table, values, "spend_limit", 0.0, numbers.amount),
        limits=_limits(table, kind, file),
        settings=_settings(table, kind, file),
    )
    if not study.rows:
        raise table.wrong("rows", f"a list of at least one {'test case' if kind == AGENTS else 'source'}")
    if not study.columns and not study.results:
        raise BadStudy(
            f"{file}: the study has no column; list {' and '.join(_COLUMN_KEYS[kind])} under [columns], or "
            "imported results."
        )
    if (cells := len(study.rows) * len(study.columns)) > MOST_CELLS:
        raise table.wrong("rows", f"fewer: a study has at most {MOST_CELLS:,} cells, but this study has {cells:,}")
    return study


def _columns(table: TomlTable, kind: str, file: Path) -> tuple[StudyColumn, ...]:
    systems_key, models_key = _COLUMN_KEYS[kind]
    declared_values = table.table("columns")
    if declared_values is None:
        return ()
    inner = TomlTable(declared_values, file, (systems_key, models_key), "columns")
    systems, models = inner.texts(systems_key), inner.texts(models_key)
    if not systems:
        raise inner.wrong(systems_key, "a list with at least one entry")
    named = [current_name(one.strip()) if kind == AGENTS else one.strip() for one in systems]
    _check_distinct(inner, systems_key, named)
    _check_distinct(inner, models_key, models)
    return _product(kind, named, [model.strip() for model in models])


def _product(kind: str, systems: Iterable[str], models: Sequence[str]) -> tuple[StudyColumn, ...]:
    # An agent reached over A2A chooses its own model, so it is one column, whatever models the other agents use.
    models_by_system = {one: ("",) if kind == AGENTS and is_remote(one) else models or ("",) for one in systems}
    return tuple(StudyColumn(system, model) for system, several in models_by_system.items() for model in several)


def _results(table: TomlTable, kind: str) -> tuple[str, ...]:
    found = _distinct(table, "results")
    for one in found:
        if kind == DOCS and one.startswith(SAMPLES):
            raise table.wrong(
                "results", f'files of sessions; answers from a file are an evaluator: evaluators = ["{one}"]'
            )
        if not one.startswith(SESSION) or not one.removeprefix(SESSION).strip():
            raise table.wrong("results", 'a list of sessions, such as ["session:others.session"]')
    return found


def _distinct(table: TomlTable, key: str) -> tuple[str, ...]:
    return _check_distinct(table, key, tuple(one.strip() for one in table.texts(key)))


def _check_distinct(table: TomlTable, key: str, found: Sequence[str]) -> tuple[str, ...]:
    for number, one in enumerate(found):
        if one in found[:number]:
            raise table.wrong(key, f"a list without duplicates, but '{one}' appears twice")
    return tuple(found)


class Typed(str):
    """A number as typed into a form field."""

    __slots__ = ()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, Typed)


def _ks(table: TomlTable, values: Mapping[str, object], samples: int) -> tuple[int, ...]:
    declared_values = values.get("k")
    if declared_values is None:
        return tuple(k for k in (1, 3) if k <= samples)
    listed = declared_values if isinstance(declared_values, list) else [declared_values]
    try:
        ks = tuple(sorted({numbers.whole(one, 1) for one in listed if not _is_text(one)}))
    except ValueError as expected:
        raise table.wrong("k", str(expected)) from None
    if not ks or any(map(_is_text, listed)):
        raise table.wrong("k", "a list of whole numbers, such as [1, 3]")
    if ks[-1] > samples:
        raise table.wrong(
            "k", f"at most the number of samples, because pass@{ks[-1]} of {samples} samples is not defined"
        )
    return ks


def _number(
    table: TomlTable, values: Mapping[str, object], key: str, default: float, read: Callable[[object], _N]
) -> _N:
    value = values.get(key, default)
    try:
        if _is_text(value):
            raise ValueError("a number, not a text")
        return read(value)
    except ValueError as expected:
        raise table.wrong(key, str(expected)) from None


def _whole(
    table: TomlTable, values: Mapping[str, object], key: str, default: int, least: int, most: int = numbers.MOST_ITEMS
) -> int:
    return _number(table, values, key, default, lambda value: numbers.whole(value, least, most))


def _limits(table: TomlTable, kind: str, file: Path) -> StudyLimits:
    declared_values = table.table("limits") or {}
    inner = TomlTable(declared_values, file, [key for key, *_ in keys_of(kind, "limits")], "limits")
    return StudyLimits(**{name: _whole(inner, declared_values, name, 0, 0, 1_000_000_000) for name in declared_values})


def _settings(table: TomlTable, kind: str, file: Path) -> StudySettings:
    declared_values, declared = table.table("settings") or {}, arguments_of(PLANS[kind])
    keys = {
        key: (of, declared[name].number if name in declared else None) for key, name, of, _ in keys_of(kind, "settings")
    }
    inner = TomlTable(declared_values, file, list(keys), "settings")
    found: dict[str, Any] = {}
    for name in declared_values:
        of, bounds = keys.get(name, (str, None))
        if of is tuple:
            found[name] = inner.texts(name)
        elif of is bool:
            found[name] = inner.flag(name)
        elif bounds is not None:
            found[name] = _whole(inner, declared_values, name, 1, *bounds[1:])
        else:
            found[name] = inner.text(name, "").strip()
    return StudySettings(**found)


# -- writing


def declared_of(study: Study) -> dict[str, Any]:
    """Return the contents of a study's ``study.toml``, without defaults.

    Raises BadStudy if the columns do not combine each system with each model.
    """
    kind, plain = study.kind, Study("", "")
    keys = ("name", "kind", "title", "rows", "results", *_NUMBERS[kind], "seed", "spend_limit")
    always = ("name", "kind", *_NUMBERS[kind], *(() if kind == PAPER else ("rows",)))
    found = {key: _listed(one) for key in keys if (one := getattr(study, key)) != getattr(plain, key) or key in always}
    if study.columns:
        systems = list(dict.fromkeys(one.system for one in study.columns))
        models = list(dict.fromkeys(one.model for one in study.columns if kind != AGENTS or not is_remote(one.system)))
        if study.columns != _product(kind, systems, models):
            raise BadStudy("A study.toml combines each system with each model, but this study has other columns.")
        named = dict(zip(_COLUMN_KEYS[kind], (systems, models), strict=True))
        found["columns"] = {key: names for key, names in named.items() if any(names)}
    for name in ("limits", "settings"):
        of, usual = getattr(study, name), getattr(plain, name)
        if changed := {key: _listed(one) for key in vars(of) if (one := getattr(of, key)) != getattr(usual, key)}:
            found[name] = changed
    return found


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def study_toml(study: Study) -> str:
    """Return a study as the text of a ``study.toml``. Raises BadStudy like :func:`declared_of`."""
    lines = []
    for key, value in declared_of(study).items():
        inside = [f"{name} = {_toml(one)}" for name, one in value.items()] if isinstance(value, dict) else []
        lines += ["", f"[{key}]", *inside] if inside else [f"{key} = {_toml(value)}"]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    # JSON values and escapes are valid TOML, except for DEL, which TOML forbids and JSON does not escape.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
