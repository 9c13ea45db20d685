"""Ask for a new study in one dialog, order it in a thread, hand it to a process of its own, and show it as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import work

from workbench.app import runs
from workbench.app.key_table import key_of
from workbench.app.keys import bindings
from workbench.app.new_study import offering
from workbench.app.new_study.offering import Offered, Reckoned
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.ordering import Begun, OrderForm, about_session, check_named_model, check_session, remember
from workbench.app.toolkit.texts import Button
from workbench.documenters.names import SCOPES
from workbench.errors import BadField, UsageError, WorkbenchError
from workbench.session.groups import CONTROLS
from workbench.studies.checking import MODELS, NUMBERS, ROWS, SYSTEMS, drafted, look_up, values_of
from workbench.studies.declaration import AGENTS, DOCS, PAPER, SAMPLES, Study
from workbench.studies.study_files import study_named

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Estimate


_KINDS = (
    (AGENTS, "agents on test cases", "whose README is better?"),
    (DOCS, "doc systems on repositories", "from whose docs is code written best?"),
)
_SCOPES = (
    (SCOPES[0], SCOPES[0], "all docstrings of the tree are the doc system's"),
    (SCOPES[1], SCOPES[1], "only that of the function itself"),
    (SCOPES[2], SCOPES[2], "all docstrings, and no other text that documents code"),
)
_CHECKS = (
    ("no", "no", "points alone"),
    ("yes", "yes", "each README is run and looked up: the measures works and claims"),
)
_ABOUT = {
    "compare": "← → changes what is compared; each kind remembers what was chosen last.",
    "name": "What it is called in the session, and in `workbench study NAME --session SESSION`.",
    "cases": "Enter opens the list; a folder, a git URL@revision or NAME==VERSION can be typed there.",
    "sources": "Repositories with pytest tests. Enter opens the list; a folder, git URL@revision or NAME==VERSION can be typed there.",
    "agents": "Enter opens the list; package.module:Class of your own can be typed there.",
    "docs": "Enter opens the list; folder:PATH, source:SOURCE, command:PROGRAM… {folder} or package.module:Class can be typed there.",
    "models": "Each stands with each agent. None: the default of this machine. Any LiteLLM name, or replay:SESSION, can be typed.",
    "evaluators": "Each works from each doc system. None: the default of this machine. Any LiteLLM name, replay:SESSION or samples:FILE.",
    "judges": "The first one's points are shown; each scores every trial. None: the default of this machine.",
    "repeats": "Trials of each agent on each case.",
    "samples": "Candidates for each task.",
    "k": "The k of pass@k, never more than the samples: 1, 3.",
    "steps": "Steps after which an agent must have answered; empty for the setting max_steps.",
    "tasks": "Only the first so many tasks of each source; empty for all.",
    "scope": "Where the docstrings of a doc system stand.",
    "checks": "Whether the README of each trial is checked in a sandbox; no model is asked for that.",
    "spend": "US dollars that all runs together may spend; empty for no limit.",
}
_OTHERS = {
    "cases": "~/project, git+https://…@v1 or NAME==1.0",
    "sources": "~/project, git+https://…@v1 or NAME==1.0",
    "agents": "package.module:Class",
    "docs": "folder:PATH, source:SOURCE, command:PROGRAM… {folder}, package.module:Class",
    "models": "any LiteLLM name, or replay:SESSION",
    "evaluators": "any LiteLLM name, replay:SESSION or samples:FILE",
    "judges": "any LiteLLM name, or package.module:Class",
}
_EMPTY = {"steps": "the setting max_steps", "tasks": "all"}


class NewStudyDialog(OrderForm[Study]):
    """Rows and both sides of the columns as lists, numbers, limits, a session.

    Args:
        host: The app.
        values: What stands in the fields of both kinds at first.
        offered: What the lists of each kind offer.
        base: The declared study that it began with.
        session: Session to start with, "" for the one of `workbench study NAME`.
    """

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
        offered: Mapping[str, Offered],
        base: Study | None = None,
        session: str = "",
    ) -> None:
        self._base = base
        fields = [Field("compare", values["compare"], options=_KINDS), _field("name", values)]
        for kind, lists in offered.items():
            found = [
                _field(ROWS[kind], values, offered=lists.rows),
                _field(SYSTEMS[kind], values, offered=lists.systems),
                _field(MODELS[kind], values, offered=lists.models),
                *([_field("judges", values, offered=lists.judges)] if kind == AGENTS else []),
                *(_field(name, values, placeholder=_EMPTY.get(name, "")) for name in NUMBERS[kind]),
                _field("checks", values, options=_CHECKS)
                if kind == AGENTS
                else _field("scope", values, options=_SCOPES),
            ]
            fields += [replace(one, shown=partial(_is_of, kind)) for one in found]
        known, empty = runs.known_sessions(), "study-NAME, as `workbench study` has it"
        fields += [
            _field("spend", values, placeholder="no limit, in US dollars"),
            Field("session", session, _about_place, known, placeholder=empty, check=check_session),
        ]
        note = f"Enter starts it; {key_of('dialog.save')} saves it as a study.toml for `workbench study FILE`."
        fields = [replace(one, help=one.help or _ABOUT[one.name]) for one in fields]
        super().__init__(host, "New study", fields, {}, note=note)

    def buttons(self) -> Iterable[Button]:
        start, cancel = super().buttons()
        return start, Button("Save as study.toml", id="save"), cancel

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
                    check_named_model(model, role, self.host.settings)
                except UsageError as problem:
                    raise BadField(MODELS[study.kind], str(problem)) from None
        return study

    def summary(self, study: Study, values: Values) -> str:
        return self._reckoned_of(study, values).sentence

    def estimate(self, study: Study, values: Values) -> Estimate:
        return self._reckoned_of(study, values).estimate

    def _reckoned_of(self, study: Study, values: Values) -> Reckoned:
        place = offering.place_of(values["session"], study.name)
        return offering.reckoned(study, place, self.measured(), self.host.settings)

    def in_plain_process(self, study: Study) -> Study:
        return replace(study, settings=replace(study.settings, sandbox="process"))

    def begin(self, study: Study, values: Values) -> Begun:
        from workbench.engine.study_client import launch_study, order_study

        place = offering.place_of(values["session"], study.name)
        order_study(place, study)
        launch_study(place, study.name)
        return partial(self.host.open_session, place, then=partial(self.host.show_study, study.name))

    def keep(self, values: Values) -> None:
        plain = offering.defaults(values["compare"], self.host.settings)
        remember(f"study-{values['compare']}", {name: values[name] for name in plain}, plain)

    @work
    async def action_save(self) -> None:
        try:
            study = self.answer(self.values)
        except WorkbenchError as problem:
            self.refuse(problem)
        else:
            await offering.ask_and_save(self.host, study)


def _field(name: str, values: Mapping[str, Any], **more: Any) -> Field:
    return Field(name, values[name], others=_OTHERS.get(name, ""), **more)


def _is_of(kind: str, values: Values) -> bool:
    return bool(values["compare"] == kind)


def _about_place(values: Values) -> str:
    if not values["session"]:
        return f"Empty: the session study-{values['name'] or 'NAME'}, as `workbench study` calls it."
    return about_session(values).replace("The run goes", "The study goes")


async def ask_and_start(host: WorkbenchApp, rows: Sequence[str] = (), like: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        rows: Cases or sources to start with; none for those of the packaged studies.
        like: A study that comes with the program, or the file of one, to start with; "" for what was answered last.
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
) -> tuple[dict[str, Any], dict[str, Offered], Study | None]:
    """Return the first values, what is offered for each kind, and the study that it is to be like."""
    base = study_named(like) if like else None
    if base is not None and base.kind == PAPER:
        raise WorkbenchError("This study is read-only: the published tables, of which nothing can be executed.")
    kind = base.kind if base is not None else AGENTS
    values = {
        name: one for of in (DOCS, AGENTS) for name, one in offering.first_values(of, rows, host.settings).items()
    }
    own = values_of(base) if base is not None else {}
    offered = {of: offering.offered(of, host.reader) for of in (AGENTS, DOCS)}
    return {**values, **own, "compare": kind}, offered, base
