"""Studies as files: a ``study.toml`` read key by key, with one sentence for every mistake, and written; those that are packaged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench import numbers
from workbench.agents.names import current_name
from workbench.agents.remote_names import is_remote
from workbench.catalog.reading import BadCase, Table, load_toml
from workbench.files import expanded, shown
from workbench.studies.declaration import (
    AGENTS,
    DOCS,
    KINDS,
    MOST_CELLS,
    PAPER,
    SAMPLES,
    SESSION,
    BadStudy,
    Column,
    Limits,
    Settings,
    Study,
)

_FOLDER = Path(__file__).parent / "packaged"
_COLUMN_KEYS = {AGENTS: ("agents", "models"), DOCS: ("docs", "evaluators")}
_NUMBERS = {AGENTS: ("repeats",), DOCS: ("samples",)}
_LIMITS = {AGENTS: ("steps", "read", "answer_tokens"), DOCS: ("tasks",)}
_SETTINGS = {
    AGENTS: ("judges", "judge_repeats", "rubrics", "checks"),
    DOCS: ("docs_scope", "selection", "tasks", "prompt", "context", "extra_body", "sandbox", "controls"),
}
_LISTS = frozenset({"judges", "rubrics", "tasks"})


def packaged_studies() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def study_named(text: str) -> Study:
    """Return the study of a name, or the one in a file.

    Raises:
        BadStudy: There is neither, or the file declares none.
    """
    if text in packaged_studies():
        return read_study_file(_FOLDER / f"{text}.toml")
    path = expanded(text)
    if not path.exists():
        raise BadStudy(
            f"There is no study and no file {shown(text)!r}; known studies: {', '.join(packaged_studies())}, or a study.toml "
            "of your own (docs/studies.md)."
        )
    return read_study_file(path)


# -- read


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

    ``file`` is where it comes from, for messages.

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
        limits=Limits(**_limits(table, "limits", _LIMITS[kind], file)),
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


def _limits(table: Table, key: str, known: Sequence[str], file: Path) -> dict[str, int]:
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


# -- written


# JSON's escapes are TOML's, but for these: TOML forbids DEL, and JSON leaves it as it is.
_CONTROL = re.compile(r"[\x7f]")


def study_toml(study: Study) -> str:
    """Return the text of a ``study.toml``; what is as by default is left out.

    Raises:
        BadStudy: Its columns are not each system with each model, which a file cannot say.
    """
    lines = [f"name = {_text(study.name)}", f"kind = {_text(study.kind)}"]
    if study.title:
        lines.append(f"title = {_text(study.title)}")
    if study.kind == PAPER:
        return "\n".join(lines) + "\n"
    lines.append(f"rows = {_texts(study.rows)}")
    if study.results:
        lines.append(f"results = {_texts(study.results)}")
    if study.kind == AGENTS:
        lines.append(f"repeats = {study.repeats}")
    else:
        lines += [f"samples = {study.samples}", f"k = {list(study.k)}"]
    if study.seed:
        lines.append(f"seed = {study.seed}")
    if study.spend_limit:
        lines.append(f"spend_limit = {study.spend_limit!r}")
    lines += _columns_table(study)
    lines += _table("limits", study.limits, Limits())
    lines += _table("settings", study.settings, Settings())
    return "\n".join(lines) + "\n"


def _columns_table(study: Study) -> list[str]:
    if not study.columns:
        return []
    systems = list(dict.fromkeys(one.system for one in study.columns))
    models = list(dict.fromkeys(one.model for one in study.columns))
    if [(one.system, one.model) for one in study.columns] != [(one, model) for one in systems for model in models]:
        raise BadStudy("A study.toml has each system with each model, and this study has other columns.")
    of_systems, of_models = _COLUMN_KEYS[study.kind]
    found = ["", "[columns]", f"{of_systems} = {_texts(systems)}"]
    return found if models == [""] else [*found, f"{of_models} = {_texts(models)}"]


def _table(name: str, values: Limits | Settings, plain: Limits | Settings) -> list[str]:
    found = []
    for key in values.__dataclass_fields__:
        value = getattr(values, key)
        if value != getattr(plain, key):
            found.append(f"{key} = {_value(value)}")
    return ["", f"[{name}]", *found] if found else []


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return _texts([str(one) for one in value])
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else str(value)


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


def _text(value: str) -> str:
    return _CONTROL.sub(r"\\u007f", json.dumps(value, ensure_ascii=False))
