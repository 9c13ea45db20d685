"""Ask for a new study in one dialog, order it in a thread, hand it to a process of its own, and show it as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import BindingType

from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.new_study.offering import Offered, Reckoned, place_of, reckoned
from workbench.app.toolkit.agreeing import model_problem
from workbench.app.toolkit.choice import ChoiceField, OneOf
from workbench.app.toolkit.form_dialog import Field, FormDialog, FormField, Refused
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pick_list import ListField, Several
from workbench.app.toolkit.session_field import about_session, problem_of_session
from workbench.app.toolkit.texts import Button
from workbench.documenters.names import SCOPES
from workbench.errors import WorkbenchError
from workbench.session.groups import CONTROLS
from workbench.studies.checking import MODELS, NUMBERS, ROWS, SYSTEMS, BadField, Draft, drafted, look_up
from workbench.studies.declaration import AGENTS, DOCS, SAMPLES
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Measured
    from workbench.settings import Settings
    from workbench.studies.declaration import Study


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


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """What was chosen; ``session`` is what stood in its field."""

    study: Study
    draft: Draft
    session: str


@dataclass(frozen=True, slots=True)
class OtherKind:
    """The other kind of study is wanted; ``draft`` is what stood in the dialog."""

    kind: str
    draft: Draft
    session: str


class NewStudyDialog(FormDialog["StudyChoice | OtherKind"]):
    """Rows and both sides of the columns as lists, numbers, limits, a session.

    Args:
        draft: What to start with.
        offered: What the lists offer.
        settings: The settings in force.
        measure: Reads what former runs took.
        session: Session to start with, "" for the one of `workbench study NAME`.
        first: Field to begin at, "" for the button that starts.
        problem: What is wrong with a field, said at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("dialog.save", "save", "save as study.toml"),
        bind("dialog.start", "start", "start"),
    ]
    DEFAULT_CSS = """
    NewStudyDialog #frame { width: 92; }
    NewStudyDialog.-high .field { margin-bottom: 0; }
    NewStudyDialog .field Label { width: 12; }
    NewStudyDialog #note { margin-top: 1; min-height: 2; }
    NewStudyDialog #will-do { min-height: 2; }
    """

    def __init__(
        self,
        draft: Draft,
        offered: Offered,
        settings: Settings,
        measure: Callable[[], Measured] | None = None,
        session: str = "",
        sessions: tuple[str, ...] = (),
        first: str = "",
        problem: Refused | None = None,
    ) -> None:
        kind = draft.kind
        rows, systems, models = ROWS[kind], SYSTEMS[kind], MODELS[kind]
        fields: list[FormField] = [
            ChoiceField("compare", kind, _KINDS),
            Field("name", draft.name),
            ListField(rows, draft.rows, offered.rows, _OTHERS[rows]),
            ListField(systems, draft.systems, offered.systems, _OTHERS[systems]),
            ListField(models, draft.models, offered.models, _OTHERS[models]),
        ]
        if kind == AGENTS:
            fields.append(ListField("judges", draft.judges, offered.judges, _OTHERS["judges"]))
        empty = {"steps": "the setting max_steps", "tasks": "all"}
        for name in NUMBERS[kind]:
            fields.append(Field(name, draft.numbers.get(name, ""), placeholder=empty.get(name, "")))
        if kind == DOCS:
            fields.append(ChoiceField("scope", draft.scope, _SCOPES))
        else:
            fields.append(ChoiceField("checks", "yes" if draft.checks else "no", _CHECKS))
        fields += [
            Field("spend", draft.numbers.get("spend", ""), placeholder="no limit, in US dollars"),
            Field("session", session, sessions, placeholder="study-NAME, as `workbench study` has it"),
        ]
        super().__init__("New study", fields, first, measure)
        self._draft, self._settings, self._refused = draft, settings, problem
        self._reckoning = Latest(self, "reckon")
        self._asked: tuple[Study, Path] | None = None
        self._said, self._changes = "", False

    def on_mount(self) -> None:
        if self._refused is not None:
            self.refuse(self._refused)

    def buttons(self) -> Iterable[Button]:
        yield Button("Start", id="start", variant="primary")
        yield Button("Save as study.toml", id="save")
        yield Button("Cancel", id="cancel")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "save":
            event.prevent_default()
            self.action_save()

    def action_start(self) -> None:
        self._start()

    # -- what stands in it

    def draft(self) -> Draft:
        """Return what stands in the fields."""
        kind = self._draft.kind
        return replace(
            self._draft,
            name=self.text("name"),
            rows=self._chosen(ROWS[kind]),
            systems=self._chosen(SYSTEMS[kind]),
            models=self._chosen(MODELS[kind]),
            judges=self._chosen("judges") if kind == AGENTS else (),
            numbers={name: self.text(name) for name in (*NUMBERS[kind], "spend")},
            scope=self.query_one("#scope", OneOf).value if kind == DOCS else self._draft.scope,
            checks=kind == AGENTS and self.query_one("#checks", OneOf).value == "yes",
        )

    def _chosen(self, field: str) -> tuple[str, ...]:
        return self.query_one(f"#{field}", Several).chosen

    def changed(self) -> None:
        kind = self.query_one("#compare", OneOf).value
        if kind != self._draft.kind:
            self.dismiss(OtherKind(kind, self.draft(), self.text("session")))
        else:
            super().changed()

    def about(self, field: str) -> str:
        if field == "session":
            text = self.text("session")
            if not text:
                return f"Empty: the session study-{self.text('name') or 'NAME'}, as `workbench study` calls it."
            return about_session(text).replace("The run goes", "The study goes")
        if field == "name" and self._changes:
            return "The session has a study of this name: it becomes this one, and what is done stays."
        if not field:
            return f"Enter starts it; {key_of('dialog.save')} saves it as a study.toml for `workbench study FILE`."
        return _ABOUT[field]

    # -- what it takes

    def will_do(self) -> str:
        try:
            study, place = drafted(self.draft()), place_of(self.text("session"), self.text("name"))
        except WorkbenchError as problem:
            self._asked = None
            return f"✗ {one_line(str(problem), 300)}"
        measured, settings = self.measured, self._settings
        if measured is not None and self._asked != (study, place):
            self._asked = study, place
            self._said = "…"
            self._reckoning.ask(
                lambda: reckoned(study, place, measured, settings), self._has_reckoned, self._cannot_reckon
            )
        return self._said

    def _has_reckoned(self, found: Reckoned) -> None:
        self._said, self._changes = found.sentence, found.changes
        self._note()

    def _cannot_reckon(self, sentence: str) -> None:
        self._said = f"✗ {one_line(sentence, 300)}"
        self._note()

    # -- its end

    def answer(self) -> StudyChoice | Refused:
        study = self._checked()
        return study if isinstance(study, Refused) else StudyChoice(study, self.draft(), self.text("session"))

    def _checked(self) -> Study | Refused:
        try:
            study = drafted(self.draft())
            look_up(study)
        except BadField as problem:
            return Refused(problem.field, str(problem))
        field = MODELS[study.kind]
        for model in dict.fromkeys(one.model for one in study.columns if one.model):
            if model not in CONTROLS and not model.startswith(SAMPLES):
                role = "the agent" if study.kind == AGENTS else "the evaluator"
                if problem_of_model := model_problem(model, role, self._settings):
                    return Refused(field, problem_of_model)
        session = self.text("session")
        if problem_of_place := problem_of_session(session) if session else "":
            return Refused("session", problem_of_place)
        return study

    @work
    async def action_save(self) -> None:
        from workbench.app.new_study.offering import ask_and_save

        study = self._checked()
        if isinstance(study, Refused):
            self.refuse(study)
        else:
            await ask_and_save(cast("WorkbenchApp", self.app), study)


async def ask_and_start(host: WorkbenchApp, rows: Sequence[str] = (), like: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        rows: Cases or sources to start with; none for those of the packaged studies.
        like: A study that comes with the program, or the file of one, to start with; "" for what was answered last.
    """
    from workbench.app import runs
    from workbench.app.new_study import offering
    from workbench.app.new_study.offering import place_of, reckoned
    from workbench.app.toolkit.agreeing import agreed, plain_process
    from workbench.app.toolkit.form_dialog import Refused
    from workbench.engine.measured import measure
    from workbench.errors import WorkbenchError
    from workbench.sandbox import NoIsolation
    from workbench.studies.declaration import AGENTS, PAPER

    settings, open_now = host.settings, host.session_path if host.reader is not None else None
    try:
        if like:
            draft: Draft = await asyncio.to_thread(offering.packaged_draft, like)
            if draft.kind == PAPER:
                raise WorkbenchError("This study is read-only: the published tables, of which nothing can be executed.")
        else:
            draft = await asyncio.to_thread(offering.first_draft, AGENTS, rows, settings)
    except WorkbenchError as error:
        host.notify(str(error), title="New study", severity="error", timeout=12)
        return
    session = "" if like else runs.default_session(open_now)
    known, first, problem = runs.known_sessions(), "", None
    while True:
        found = await asyncio.to_thread(offering.offered, draft.kind, host.reader)
        dialog = NewStudyDialog(
            draft, found, settings, partial(measure, open_now), session, known, first=first, problem=problem
        )
        answer: StudyChoice | OtherKind | None = await host.push_screen_wait(dialog)
        first, problem = "", None
        if answer is None:
            return
        session = answer.session
        if isinstance(answer, OtherKind):
            named = answer.draft.name if not answer.draft.name.startswith("my-") and not like else ""
            kept = answer.draft.rows if rows else ()
            draft = await asyncio.to_thread(offering.first_draft, answer.kind, kept, settings)
            draft = replace(draft, name=named or draft.name)
            first = "compare"
            continue
        draft, study = answer.draft, answer.study
        try:
            place = place_of(session, study.name)
            measured = await asyncio.to_thread(measure, open_now)
            told = await asyncio.to_thread(reckoned, study, place, measured, settings)
            if not await agreed(host, told.estimate):
                continue
            host.notify(f"Starting the study {study.name}…", timeout=2)
            try:
                await asyncio.to_thread(_begin, place, study)
            except NoIsolation as error:
                if not error.promises or not await host.push_screen_wait(plain_process(error)):
                    raise
                study = replace(study, settings=replace(study.settings, sandbox="process"))
                await asyncio.to_thread(_begin, place, study)
        except (WorkbenchError, OSError) as error:
            problem = Refused("name", str(error))
            continue
        await asyncio.to_thread(offering.keep, draft, settings)
        host.open_session(place, then=partial(host.show_study, study.name))
        return


def _begin(place: Path, study: Study) -> None:
    """Write the study with the runs that the session lacks, and hand it to a process that executes them.

    Raises:
        NoIsolation: No sandbox was named and none isolates; nothing was written.
    """
    from workbench.engine.study_client import order_study
    from workbench.engine.study_execution import launch_study

    order_study(place, study)
    launch_study(place, study.name)
