"""What a new study can be made of, and what stands in its dialog at first; read in a thread."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.agents.names import AGENTS as AGENT_INFOS
from workbench.app.toolkit.answers import remember, remembered
from workbench.app.toolkit.several import Option
from workbench.catalog import load_cases
from workbench.catalog.repositories import load_repositories
from workbench.errors import UsageError
from workbench.models.defaults import available_models
from workbench.results.sessions import models_used
from workbench.session.groups import CONTROLS
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE
from workbench.studies.drafts import NUMBERS, Draft, draft_of
from workbench.studies.known import study_named

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.settings import Settings

_PROGRAMS = {"repoagent": "RepoAgent, the real program", "osa": "OSA, the real program"}
_KEPT_LISTS = ("systems", "models", "judges")


@dataclass(frozen=True, slots=True)
class Offered:
    """What the lists of the dialog offer."""

    rows: tuple[Option, ...]
    systems: tuple[Option, ...]
    models: tuple[Option, ...]
    judges: tuple[Option, ...]


def offered(kind: str, reader: SessionReader | None = None) -> Offered:
    """Return what a study of a kind can be made of: this machine's models, and those of the session that is open."""
    cases = load_cases()[0]
    rows = [Option(case.id, _about(case.kind, case.domain, case.description)) for case in cases]
    # A name means a case first: where a case has a repository's, that one is named in full.
    taken = {case.id.casefold() for case in cases}
    rows += [
        Option(one.repository if one.name.casefold() in taken else one.name, f"{one.repository}, of the paper")
        for one in load_repositories()
    ]
    told = {"local": "the small embedded model: free, no key, low scores"}
    used = _models_of(reader) if reader is not None else ()
    models = tuple(dict.fromkeys((*available_models(), *used)))
    told = {**dict.fromkeys(used, "in this session: what it wrote there needs no key"), **told}
    asked = tuple(Option(name, told.get(name, "")) for name in models)
    if kind == AGENTS:
        every = Option(EVERY_CASE, "all cases that come with the program")
        agents = tuple(Option(info.name, info.description) for info in AGENT_INFOS)
        return Offered(
            (every, *rows), agents, asked, (Option("offline", "rules alone: tiers 1 to 3, no model"), *asked)
        )
    docs = [Option("original", "the docstrings that are there"), Option("none", "no docstring anywhere")]
    docs += [Option(f"llm:{model}", "this model documents function by function") for model in models]
    docs += [Option(f"{program}:{model}", title) for program, title in _PROGRAMS.items() for model in models]
    controls = [Option(name, "a control: no model, a known verdict") for name in CONTROLS]
    return Offered(tuple(rows), tuple(docs), (*asked, *controls), ())


def _models_of(reader: SessionReader) -> tuple[str, ...]:
    """Return the models of a session that can be asked by their names: those of trials, samples and judges."""
    from workbench.models.names import check_model, keys_unneeded

    found = []
    for model in models_used(reader):
        with contextlib.suppress(UsageError), keys_unneeded():
            check_model(model, "the study")
            found.append(model)
    return tuple(found)


def _about(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def first_draft(kind: str, rows: Sequence[str], settings: Settings) -> Draft:
    """Return what stands in the dialog at first: what was answered last, on rows that were marked, if any were."""
    plain = defaults(kind, settings)
    answers = remembered(_dialog(kind), _as_texts(plain))
    draft = replace(
        plain,
        numbers={name: answers[name] for name in plain.numbers},
        scope=answers["scope"],
        checks=answers["checks"] == "yes",
        systems=_names(answers["systems"], plain.systems),
        models=_names(answers["models"], plain.models),
        judges=_names(answers["judges"], plain.judges),
    )
    return replace(draft, rows=tuple(rows)) if rows else draft


def defaults(kind: str, settings: Settings) -> Draft:
    """Return the draft where nothing was answered before: the packaged study's rows and columns, this machine's models."""
    from workbench.engine.defaults import document_plan, regeneration_plan

    base = draft_of(study_named(kind))
    if kind == AGENTS:
        plan = document_plan(settings)
        typed: Mapping[str, str] = {"repeats": "3", "steps": "", "spend": ""}
        return Draft(kind, f"my-{kind}", base.rows, ("white", "single-file"), (plan.model,), (plan.judge,), typed)
    asked = regeneration_plan(settings)
    typed = {"samples": str(asked.samples), "k": "1, 3" if asked.samples >= 3 else "1", "tasks": "", "spend": ""}
    return Draft(kind, f"my-{kind}", base.rows, ("original", "none"), (asked.evaluator,), (), typed)


def packaged_draft(name: str) -> Draft:
    """Return a study that comes with the program, or the one of a file, as the dialog holds it.

    Raises:
        BadStudy: There is none.
    """
    return draft_of(study_named(name))


def keep(draft: Draft, settings: Settings) -> None:
    """Remember what was answered, but for name and rows."""
    remember(_dialog(draft.kind), _as_texts(draft), _as_texts(defaults(draft.kind, settings)))


def _dialog(kind: str) -> str:
    return f"study-{DOCS if kind == DOCS else AGENTS}"


def _as_texts(draft: Draft) -> dict[str, str]:
    lists = {name: json.dumps(getattr(draft, name), ensure_ascii=False) for name in _KEPT_LISTS}
    return {
        **lists,
        **{name: draft.numbers.get(name, "") for name in (*NUMBERS[draft.kind], "spend")},
        "scope": draft.scope,
        "checks": "yes" if draft.checks else "no",
    }


def _names(text: str, default: tuple[str, ...]) -> tuple[str, ...]:
    try:
        found = json.loads(text)
    except ValueError:
        return default
    return tuple(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else default
