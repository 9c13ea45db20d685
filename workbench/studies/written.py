"""A declaration written as a ``study.toml``, from which :func:`workbench.studies.declaration.read_study_file` reads the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from workbench.studies.declaration import AGENTS, PAPER, BadStudy, Limits, Settings, Study

_NAMES = {AGENTS: ("agents", "models"), "docs": ("docs", "evaluators")}
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
    lines += _columns(study)
    lines += _table("limits", study.limits, Limits())
    lines += _table("settings", study.settings, Settings())
    return "\n".join(lines) + "\n"


def _columns(study: Study) -> list[str]:
    if not study.columns:
        return []
    systems = list(dict.fromkeys(one.system for one in study.columns))
    models = list(dict.fromkeys(one.model for one in study.columns))
    if [(one.system, one.model) for one in study.columns] != [(one, model) for one in systems for model in models]:
        raise BadStudy("A study.toml has each system with each model, and this study has other columns.")
    of_systems, of_models = _NAMES[study.kind]
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
