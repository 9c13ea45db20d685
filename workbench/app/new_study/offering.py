"""What a new study can be made of, and what stands in its dialog at first; read in a thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.agents.names import AGENTS as AGENT_INFOS
from workbench.app import runs
from workbench.app.toolkit.fields import Offer
from workbench.app.toolkit.ordering import remembered
from workbench.catalog import load_cases
from workbench.catalog.repositories import load_repositories
from workbench.documenters.names import SCOPES
from workbench.engine.session_names import new_place
from workbench.errors import UsageError, WorkbenchError
from workbench.files import expanded
from workbench.models.defaults import available_models
from workbench.results.sessions import models_used
from workbench.session.groups import CONTROLS
from workbench.studies.checking import MODELS, NUMBERS, ROWS, SYSTEMS, Draft, draft_of
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE
from workbench.studies.study_files import study_named
from workbench.text import one_line, plural

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Estimate, Measured
    from workbench.session.reader import SessionReader
    from workbench.settings import Settings
    from workbench.studies.declaration import Study


_PROGRAMS = {"repoagent": "RepoAgent, the real program", "osa": "OSA, the real program"}


@dataclass(frozen=True, slots=True)
class Offered:
    """What the lists of the dialog offer."""

    rows: tuple[Offer, ...]
    systems: tuple[Offer, ...]
    models: tuple[Offer, ...]
    judges: tuple[Offer, ...]


def offered(kind: str, reader: SessionReader | None = None) -> Offered:
    """Return what a study of a kind can be made of: this machine's models, and those of the session that is open."""
    cases = load_cases()[0]
    rows = [Offer(case.id, _about(case.kind, case.domain, case.description)) for case in cases]
    # A name means a case first: where a case has a repository's, that one is named in full.
    taken = {case.id.casefold() for case in cases}
    rows += [
        Offer(one.repository if one.name.casefold() in taken else one.name, f"{one.repository}, of the paper")
        for one in load_repositories()
    ]
    told = {"local": "the small embedded model: free, no key, low scores"}
    used = _models_of(reader) if reader is not None else ()
    models = tuple(dict.fromkeys((*available_models(), *used)))
    told = {**dict.fromkeys(used, "in this session: what it wrote there needs no key"), **told}
    asked = tuple(Offer(name, told.get(name, "")) for name in models)
    if kind == AGENTS:
        every = Offer(EVERY_CASE, "all cases that come with the program")
        agents = tuple(Offer(info.name, info.description) for info in AGENT_INFOS)
        return Offered((every, *rows), agents, asked, (Offer("offline", "rules alone: tiers 1 to 3, no model"), *asked))
    docs = [Offer("original", "the docstrings that are there"), Offer("none", "no docstring anywhere")]
    docs += [Offer(f"llm:{model}", "this model documents function by function") for model in models]
    docs += [Offer(f"{program}:{model}", title) for program, title in _PROGRAMS.items() for model in models]
    controls = [Offer(name, "a control: no model, a known verdict") for name in CONTROLS]
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


def first_values(kind: str, rows: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Return what stands in the fields of a kind at first: what was answered last, on ``rows`` that were marked, if any were."""
    plain = defaults(kind, settings)
    found = {**values_of(draft_of(study_named(kind))), **remembered(f"study-{kind}", plain), "name": f"my-{kind}"}
    return {**found, ROWS[kind]: tuple(rows)} if rows else found


def defaults(kind: str, settings: Settings) -> dict[str, Any]:
    """Return what stands in the fields that are remembered, all but name and rows, where nothing was answered before."""
    from workbench.engine.defaults import document_plan, regeneration_plan

    common = {SYSTEMS[kind]: ("original", "none"), "spend": ""}
    if kind == AGENTS:
        plan = document_plan(settings)
        models = {"models": (plan.model,), "judges": (plan.judge,)}
        return {**common, "agents": ("white", "single-file"), **models, "repeats": "3", "steps": "", "checks": "no"}
    asked = regeneration_plan(settings)
    numbers = {"samples": str(asked.samples), "k": "1, 3" if asked.samples >= 3 else "1", "tasks": ""}
    return {**common, "evaluators": (asked.evaluator,), **numbers, "scope": SCOPES[0]}


def values_of(draft: Draft) -> dict[str, Any]:
    """Return what stands in the fields of a draft's kind."""
    kind = draft.kind
    of_kind = (
        {"judges": draft.judges, "checks": "yes" if draft.checks else "no"}
        if kind == AGENTS
        else {"scope": draft.scope}
    )
    lists = {ROWS[kind]: draft.rows, SYSTEMS[kind]: draft.systems, MODELS[kind]: draft.models}
    return {"name": draft.name, **lists, **of_kind, **draft.numbers}


def draft_from(values: Mapping[str, Any], base: Study | None) -> Draft:
    """Return what stands in the fields of the kind that is compared; ``base`` is what it began with, of any kind."""
    kind = values["compare"]
    return Draft(
        kind,
        values["name"],
        values[ROWS[kind]],
        values[SYSTEMS[kind]],
        values[MODELS[kind]],
        values["judges"] if kind == AGENTS else (),
        {name: values[name] for name in (*NUMBERS[kind], "spend")},
        values["scope"] if kind == DOCS else SCOPES[0],
        checks=kind == AGENTS and values["checks"] == "yes",
        base=base if base is not None and base.kind == kind else None,
    )


_NOUNS = {AGENTS: ("case", "agent", "model", "repeat"), DOCS: ("source", "doc system", "evaluator", "sample")}
"""What a kind calls its rows, both sides of its columns, and how often."""


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What was reckoned.

    Attributes:
        sentence: ``2 cases × 3 agents × 3 repeats = 18 trials, about …``, and whether it takes the place of another study.
        estimate: What is still to be done.
    """

    sentence: str
    estimate: Estimate


def place_of(session: str, name: str) -> Path:
    """Return the session file that is meant; "" is the one of ``workbench study NAME``. One that is only read gives way to a new one.

    Raises:
        UsageError: It cannot be a session's name.
    """
    path = new_place(session or f"study-{name}")
    return path if not path.exists() or runs.is_writable(path) else runs.new_session(f"study-{name}")


def reckoned(study: Study, session: Path, measured: Measured, settings: Settings) -> Reckoned:
    """Return what a study will take in a session.

    Raises:
        WorkbenchError: It names what is not there, or a model that cannot be asked.
    """
    from workbench.engine.study_client import resolved_study
    from workbench.engine.study_estimate import estimate_study

    whole = resolved_study(study, session)
    told = estimate_study(measured, session, whole, settings.trials_at_once)
    cells = len(whole.rows) * len(whole.columns)
    if study.kind == AGENTS:
        said = told.beside(cells * whole.repeats)
    else:
        said = f"{plural(cells, 'cell')}{': ' if told.count is not None else ' of '}{told.sentence()}"
    another = "\nThe session has a study of this name: it becomes this one, and what is done stays."
    return Reckoned(f"{_product(whole)} = {said}.{another if _has_another(session, whole) else ''}", told)


def _product(study: Study) -> str:
    """Return ``2 cases × 3 agents × 3 repeats``; what there is one of is left out, but for rows and systems."""
    systems, models = ({getattr(one, side) for one in study.columns} for side in ("system", "model"))
    times = study.repeats if study.kind == AGENTS else study.samples
    counts = zip((len(study.rows), len(systems), len(models), times), _NOUNS[study.kind], (1, 1, 2, 2), strict=True)
    return " × ".join(plural(count, noun) for count, noun, least in counts if count >= least)


def _has_another(session: Path, study: Study) -> bool:
    from workbench.session import SessionReader
    from workbench.studies.declaration import BadStudy
    from workbench.studies.following import declared

    if not session.exists():
        return False
    with SessionReader(session, surveyed=False) as reader:
        if reader.study(study.name) is None:
            return False
        try:
            return declared(reader, study.name) != study
        except BadStudy:
            return True


_TITLE = "Save as study.toml"


async def ask_and_save(host: WorkbenchApp, study: Study) -> None:
    """Ask for a file and write the declaration there; call it from a worker."""
    from workbench.app.toolkit.form import AskText, Confirm

    note = "`workbench study FILE` executes it; --session says into which session."
    suggested = str(Path.cwd() / f"{study.name}.toml")
    answer = await host.push_screen_wait(AskText(_TITLE, note, suggested, paths=True))
    if not answer:
        return
    try:
        place, there = await asyncio.to_thread(_place, answer)
        if there and not await host.push_screen_wait(
            Confirm(_TITLE, f"{place} is there already. Write over it?", "Write")
        ):
            return
        await asyncio.to_thread(_write, place, study)
    except (WorkbenchError, OSError) as error:
        host.notify(one_line(str(error), 400), title=_TITLE, severity="error", timeout=12)
    else:
        host.notify(f"Written: {place}", title=_TITLE, timeout=8)


def _place(text: str) -> tuple[Path, bool]:
    place = expanded(text)
    return place, place.exists()


def _write(place: Path, study: Study) -> None:
    from workbench.engine.study_client import written_out
    from workbench.studies.study_files import study_toml

    place.write_text(study_toml(replace(study, rows=written_out(study.rows))), encoding="utf-8")
