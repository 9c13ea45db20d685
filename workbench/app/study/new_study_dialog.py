"""The dialog that creates a study.

The user chooses rows, columns and limits, sees an estimate, and starts the study or saves it as ``study.toml``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work

from workbench.agents.names import AGENTS as AGENT_INFOS
from workbench.app import runs
from workbench.app.keys import bindings, key_of
from workbench.app.location import Location
from workbench.app.toolkit import order_form as ordering
from workbench.app.toolkit.fields import Field, PickOption, Values
from workbench.app.toolkit.form import AskText, Confirm
from workbench.app.toolkit.text_widgets import Button
from workbench.base.errors import BadField, UsageError, WorkbenchError
from workbench.base.files import expanded
from workbench.base.text import one_line, plural
from workbench.catalog import load_cases
from workbench.catalog.repositories import load_repositories
from workbench.documenters.types import SCOPES
from workbench.models.defaults import available_models
from workbench.orders.study import StudyOrder
from workbench.results.sessions import models_used
from workbench.session.groups import CONTROLS
from workbench.studies.checking import MODELS, NUMBERS, ROWS, SYSTEMS, drafted, look_up, values_of
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE, PAPER, SAMPLES, Study
from workbench.studies.study_files import study_named

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.base.settings import Settings
    from workbench.session.reader import SessionReader

Offers = Mapping[str, tuple[PickOption, ...]]
"""The pick list options of a kind of study, by field name."""
_PROGRAMS = {"repoagent": "RepoAgent, the real program", "osa": "OSA, the real program"}
_NOUNS = {AGENTS: ("case", "agent", "model", "repeat"), DOCS: ("source", "doc system", "evaluator", "sample")}
"""The nouns for rows, systems, models and repeats, by kind of study."""
_SAVE = "Save as study.toml"
_KINDS = (
    (AGENTS, "agents on test cases", "whose README is better?"),
    (DOCS, "doc systems on repositories", "which docs lead to the best code?"),
)
_SCOPES = (
    (SCOPES[0], SCOPES[0], "all docstrings of the tree come from the doc system"),
    (SCOPES[1], SCOPES[1], "only the docstring of the function itself"),
    (SCOPES[2], SCOPES[2], "all docstrings, and no other text that documents code"),
)
_CHECKS = (("no", "no", "points only"), ("yes", "yes", "each README is checked: adds the measures works and claims"))
_FIELDS = {one.name: one for one in (
    Field("compare", options=_KINDS, help="← → changes the kind of study; the last choices are stored for each kind."),
    Field("name", help="The name in the session, and in `workbench study NAME --session SESSION`."),
    Field("cases", others="~/project, git+https://…@v1 or NAME==1.0",
          help="Enter opens the list; a folder, a git URL@revision or NAME==VERSION can be typed there."),
    Field("sources", others="~/project, git+https://…@v1 or NAME==1.0",
          help="Repositories with pytest tests. Enter opens the list; a folder, git URL@revision or NAME==VERSION can be typed there."),
    Field("agents", others="package.module:Class",
          help="Enter opens the list; your own package.module:Class can be typed there."),
    Field("docs", others="folder:PATH, source:SOURCE, command:PROGRAM… {folder}, package.module:Class",
          help="Enter opens the list; folder:PATH, source:SOURCE, command:PROGRAM… {folder} or package.module:Class can be typed there."),
    Field("models", others="any LiteLLM name, or replay:SESSION",
          help="Combined with each agent; none selects the default of this machine. Any LiteLLM name or replay:SESSION can be typed."),
    Field("evaluators", others="any LiteLLM name, replay:SESSION or samples:FILE",
          help="Combined with each doc system; none selects the default of this machine. Any LiteLLM name, replay:SESSION or samples:FILE."),
    Field("judges", others="any LiteLLM name, or package.module:Class",
          help="Each scores every trial; the points of the first are shown. None selects the default of this machine."),
    Field("repeats", help="Trials of each agent on each case."),
    Field("samples", help="Candidates for each task."),
    Field("k", help="The values of k for pass@k, at most the number of samples: 1, 3."),
    Field("steps", placeholder="the setting max_steps",
          help="Maximum steps of an agent; empty for the setting max_steps."),
    Field("tasks", placeholder="all", help="Maximum tasks per source; empty for all."),
    Field("scope", options=_SCOPES, help="Where the docstrings of a doc system are used."),
    Field("checks", options=_CHECKS,
          help="Whether to check each README in a sandbox; needs no model."),
    Field("use", placeholder="not measured",
          help="The reader that measures each README by use: literal, which needs no model, agent:MODEL, or any LiteLLM name."),
    Field("spend", placeholder="no limit, in US dollars",
          help="Spending limit of all runs together in US dollars; empty for none."),
)}  # fmt: skip


class NewStudyDialog(ordering.OrderForm[Study]):
    """A form for the rows, columns, numbers, limits and session of a study; ``base`` is the study to start from."""

    BINDINGS = bindings("dialog/study")
    DEFAULT_CSS = """
    NewStudyDialog #frame { width: 92; }
    NewStudyDialog.-high .field { margin-bottom: 0; }
    NewStudyDialog .field Label { width: 12; }
    NewStudyDialog #note { margin-top: 1; min-height: 2; }
    NewStudyDialog #will-do { min-height: 2; }
    """

    def __init__(
        self,
        host: WorkbenchApp,
        values: Mapping[str, Any],
        offered: Mapping[str, Offers],
        base: Study | None = None,
        session: str = "",
    ) -> None:
        self._base = base
        fields = [replace(_FIELDS[name], value=values[name]) for name in ("compare", "name")]
        for kind, lists in offered.items():
            shown = partial(_compares, kind)
            for name in (*lists, *NUMBERS[kind], *(("checks", "use") if kind == AGENTS else ("scope",))):
                fields.append(replace(_FIELDS[name], value=values[name], offered=lists.get(name), shown=shown))
        known, empty = runs.known_sessions(), "study-NAME, as for `workbench study`"
        fields += [
            replace(_FIELDS["spend"], value=values["spend"]),
            Field("session", session, _about_place, known, placeholder=empty, check=ordering.check_session),
        ]
        note = f"Enter starts the study; {key_of('dialog.save')} saves it as study.toml for `workbench study FILE`."
        super().__init__(host, "New study", fields, {}, note=note)

    def buttons(self) -> Iterable[Button]:
        start, cancel = super().buttons()
        return start, Button(_SAVE, id="save"), cancel

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "save":
            self.action_save()

    def changed(self) -> None:
        kind, name = self.values["compare"], self._lines["name"]
        if name.value in {f"my-{one}" for one in ROWS if one != kind}:
            name.value = f"my-{kind}"
        super().changed()

    def read(self, values: Values) -> Study:
        study = drafted(values, self._base)
        look_up(study)
        role = "the agent" if study.kind == AGENTS else "the evaluator"
        for model in dict.fromkeys(one.model for one in study.columns if one.model):
            if model not in CONTROLS and not model.startswith(SAMPLES):
                try:
                    ordering.check_named_model(model, role, self.host.settings)
                except UsageError as problem:
                    raise BadField(MODELS[study.kind], str(problem)) from None
        return study

    def order(self, study: Study, values: Values) -> StudyOrder:
        return StudyOrder(_place_of(values["session"], study.name), study)

    def summary(self, study: Study, values: Values) -> str:
        """Return ``2 cases × 3 agents × 3 repeats = 18 trials, about …``, with a note if it replaces another study."""
        order = self.order(study, values)
        estimate, whole = self.estimate(order), order.study
        cells = len(whole.rows) * len(whole.columns)
        if study.kind == AGENTS:
            text = estimate.beside(cells * whole.repeats)
        else:
            text = f"{plural(cells, 'cell')}{': ' if estimate.count is not None else ' of '}{estimate.sentence()}"
        another = "\nThe session has a study of this name: this one replaces it; finished results are kept."
        return f"{_product(whole)} = {text}.{another if _has_another(order.session, whole) else ''}"

    def in_plain_process(self, study: Study) -> Study:
        return replace(study, settings=replace(study.settings, sandbox="process"))

    def show(self, order: StudyOrder) -> None:
        self.host.go_to(Location(order.session, "study", order.study.name))

    def save_values(self, values: Values) -> None:
        plain = defaults(values["compare"], self.host.settings)
        ordering.save_answers(f"study-{values['compare']}", {name: values[name] for name in plain}, plain)

    @work
    async def action_save(self) -> None:
        host = self.host
        try:
            study = self.answer(self.values)
        except WorkbenchError as problem:
            self.refuse(problem)
            return
        note = "Run it with `workbench study FILE`; --session sets the session."
        suggested = str(Path.cwd() / f"{study.name}.toml")
        if not (answer := await host.push_screen_wait(AskText(_SAVE, note, suggested, paths=True))):
            return
        try:
            place = expanded(answer)
            question = f"{place} exists. Overwrite it?"
            there = await asyncio.to_thread(place.exists)
            if there and not await host.push_screen_wait(Confirm(_SAVE, question, "Overwrite")):
                return
            await asyncio.to_thread(_write, place, study)
        except (WorkbenchError, OSError) as error:
            host.notify(one_line(str(error), 400), title=_SAVE, severity="error", timeout=12)
        else:
            host.notify(f"Saved {place}.", title=_SAVE, timeout=8)


def _write(place: Path, study: Study) -> None:
    from workbench.orders.study import written_out
    from workbench.studies.study_files import study_toml

    place.write_text(study_toml(replace(study, rows=written_out(study.rows))), encoding="utf-8")


def _compares(kind: str, values: Mapping[str, Any]) -> bool:
    return bool(values["compare"] == kind)


def _about_place(values: Values) -> str:
    if not values["session"]:
        return f"Empty: the session study-{values['name'] or 'NAME'}, as for `workbench study`."
    return ordering.about_session(values).replace("The run goes", "The study goes")


async def ask_and_start(host: WorkbenchApp, rows: Sequence[str] = (), like: str = "") -> None:
    """Show the dialog and start the study; call from a worker.

    The form starts with ``rows`` and the study ``like`` (a bundled one or a file), or with the last answers.
    """
    try:
        values, offered, base = await asyncio.to_thread(_first, host, rows, like)
    except WorkbenchError as error:
        host.notify(str(error), title="New study", severity="error", timeout=12)
        return
    session = "" if like else runs.default_session(host.opened)
    await host.push_screen_wait(NewStudyDialog(host, values, offered, base, session))


def _first(
    host: WorkbenchApp, rows: Sequence[str], like: str
) -> tuple[dict[str, Any], dict[str, Offers], Study | None]:
    """Return the initial values, the pick list options of each kind of study, and the study to start from."""
    base = study_named(like) if like else None
    if base is not None and base.kind == PAPER:
        raise WorkbenchError("This study is read-only: the published tables cannot be executed.")
    values: dict[str, Any] = {}
    for kind in (DOCS, AGENTS):
        answered = ordering.last_answers(f"study-{kind}", defaults(kind, host.settings))
        values |= {**values_of(study_named(kind)), **answered, "name": f"my-{kind}"}
        if rows:
            values[ROWS[kind]] = tuple(rows)
    if base is not None:
        values |= values_of(base)
    offered_of = {kind: offered(kind, host.reader) for kind in (AGENTS, DOCS)}
    return values, offered_of, base


# -- pick lists


def offered(kind: str, reader: SessionReader | None = None) -> Offers:
    """Return the pick list options of a kind of study, such as the models of this machine and the open session."""
    cases = load_cases()[0]
    rows = [PickOption(case.id, " · ".join(filter(None, (case.kind, case.domain, case.description)))) for case in cases]
    # Cases take precedence, so a repository with the same name as a case is named in full.
    taken = {case.id.casefold() for case in cases}
    rows += [
        PickOption(one.repository if one.name.casefold() in taken else one.name, f"{one.repository}, of the paper")
        for one in load_repositories()
    ]
    about = {"local": "the small embedded model: free, no key, low scores"}
    used = _models_of(reader) if reader is not None else ()
    models = tuple(dict.fromkeys((*available_models(), *used)))
    about = {**dict.fromkeys(used, "used in this session: its recorded answers need no key"), **about}
    asked = tuple(PickOption(name, about.get(name, "")) for name in models)
    if kind == AGENTS:
        every = PickOption(EVERY_CASE, "all bundled cases")
        agents = tuple(PickOption(info.name, info.description) for info in AGENT_INFOS)
        judges = (PickOption("offline", "rules only: tiers 1 to 3, no model"), *asked)
        return {"cases": (every, *rows), "agents": agents, "models": asked, "judges": judges}
    docs = [PickOption("original", "the existing docstrings"), PickOption("none", "no docstrings at all")]
    docs += [PickOption(f"llm:{model}", "the model documents one function at a time") for model in models]
    docs += [PickOption(f"{program}:{model}", title) for program, title in _PROGRAMS.items() for model in models]
    controls = [PickOption(name, "a control: no model, known verdict") for name in CONTROLS]
    return {"sources": tuple(rows), "docs": tuple(docs), "evaluators": (*asked, *controls)}


def _models_of(reader: SessionReader) -> tuple[str, ...]:
    """Return the models used for trials, samples and judging in a session that can be selected by name."""
    from workbench.models.names import check_model, keys_unneeded

    found = []
    for model in models_used(reader):
        with contextlib.suppress(UsageError), keys_unneeded():
            check_model(model, "the study")
            found.append(model)
    return tuple(found)


def defaults(kind: str, settings: Settings) -> dict[str, Any]:
    """Return the default answers for all stored fields, that is, all except the name and rows."""
    from workbench.orders.defaults import document_plan, regeneration_plan

    common = {SYSTEMS[kind]: ("original", "none"), "spend": ""}
    if kind == AGENTS:
        plan = document_plan(settings)
        models = {"models": (plan.model,), "judges": (plan.judge,)}
        return {
            **common,
            "agents": ("white", "single-file"),
            **models,
            "repeats": "3",
            "steps": "",
            "checks": "no",
            "use": "",
        }
    asked = regeneration_plan(settings)
    numbers = {"samples": str(asked.samples), "k": "1, 3" if asked.samples >= 3 else "1", "tasks": ""}
    return {**common, "evaluators": (asked.evaluator,), **numbers, "scope": SCOPES[0]}


# -- summary and session


def _place_of(session: str, name: str) -> Path:
    """Return the path of the session that a study is run in: a new session if the requested one is read-only.

    If ``session`` is "", this is the session that ``workbench study NAME`` uses.
    """
    return runs.place_of_run(session or f"study-{name}", f"study-{name}")


def _product(study: Study) -> str:
    """Return ``2 cases × 3 agents × 3 repeats``; factors of one are omitted, except for rows and systems."""
    systems, models = ({getattr(one, side) for one in study.columns} for side in ("system", "model"))
    times = study.repeats if study.kind == AGENTS else study.samples
    counts = zip((len(study.rows), len(systems), len(models), times), _NOUNS[study.kind], (1, 1, 2, 2), strict=True)
    return " × ".join(plural(count, noun) for count, noun, least in counts if count >= least)


def _has_another(session: Path, study: Study) -> bool:
    from workbench.session import SessionReader
    from workbench.studies.declaration import BadStudy
    from workbench.studies.study_reader import declared

    if not session.exists():
        return False
    with SessionReader(session, surveyed=False) as reader:
        if reader.study(study.name) is None:
            return False
        try:
            return declared(reader, study.name) != study
        except BadStudy:
            return True
