"""A study is made in the app: chosen, checked, reckoned, started or saved; what is under way goes on, ends and is reported there."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from driving import on, opened, screen_text, sees, study_of, until
from studies.declared_studies import cell_of, put_candidates, put_run, put_task
from test_study import asked  # noqa: F401  what draws is not asked here either
from textual.pilot import Pilot

from workbench.app.cases.screen import CasesScreen
from workbench.app.study import new_study_dialog as starting
from workbench.app.study.detail import TemplateList
from workbench.app.study.new_study_dialog import NewStudyDialog
from workbench.app.study.screen import StudyScreen
from workbench.app.toolkit.export_dialog import ReportDialog
from workbench.app.toolkit.fields import CycleField, MultiPick, PickList
from workbench.app.toolkit.form import AskText, Confirm
from workbench.orders import study
from workbench.pages import writing
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.rows import StudyCellRow
from workbench.studies.declaration import DOCS, Study, StudyColumn
from workbench.studies.study_files import read_study_file
from workbench.studies.study_reader import declared

Launched = list[tuple[Path, str]]


@pytest.fixture
def launched(monkeypatch):
    """What would be executed: the process itself is tested with the engine."""
    found: Launched = []
    monkeypatch.setattr(study, "launch_study", lambda session, name, queue=False: found.append((session, name)))
    return found


@contextlib.asynccontextmanager
async def cases(size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Pilot[int], CasesScreen]]:
    """Run the app in Cases, the list read."""
    async with opened(None, size) as pilot:
        screen = await on(pilot, CasesScreen)
        await until(pilot, lambda: screen._ready and screen.case_list.row_count(), "the cases")
        yield pilot, screen


async def dialog_of(pilot: Pilot[int]) -> NewStudyDialog:
    await on(pilot, NewStudyDialog)
    await until(pilot, lambda: pilot.app.screen.is_mounted, "the dialog")
    await sees(pilot, " = ")
    assert isinstance(pilot.app.screen, NewStudyDialog)
    return pilot.app.screen


async def pick(pilot: Pilot[int], field: str) -> PickList:
    pilot.app.screen.query_one(f"#{field}", MultiPick).focus()
    await pilot.press("enter")
    await on(pilot, PickList)
    return pilot.app.screen


async def test_marked_cases_become_a_study_that_is_started_and_shown(launched):
    async with cases() as (pilot, screen):
        app = pilot.app
        await pilot.press("space", "space", "X")
        dialog = await dialog_of(pilot)
        assert "2 cases × 2 agents × 3 repeats = 12 trials" in screen_text(app)
        picked = await pick(pilot, "agents")
        await pilot.press("A", "enter")
        await sees(pilot, "2 cases × 5 agents × 3 repeats = 30 trials")
        assert len(picked.rows.options) == 5
        picked = await pick(pilot, "agents")
        await pilot.press("A", "slash", *"single")
        await until(pilot, lambda: picked.rows.narrowed == "single", "one row")
        await pilot.press("enter", "space", "enter")
        await sees(pilot, "2 cases × 1 agent × 3 repeats = 6 trials")
        await pick(pilot, "agents")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog, "nothing changed")
        assert dialog.query_one("#agents", MultiPick).value == ("single-file",)
        dialog.query_one("#repeats").value = "2"
        dialog.query_one("#name").value = "mine"
        await sees(pilot, "2 cases × 1 agent × 2 repeats = 4 trials")
        await pilot.press("ctrl+g")
        await on(pilot, StudyScreen)
        await until(pilot, lambda: app.screen.outcome is not None, "the study")
        (one,) = launched
        assert one[1] == "mine"
        assert one[0].name == "study-mine.session"
        with SessionReader(one[0]) as reader:
            study = declared(reader, "mine")
            assert [row.agent for row in reader.trials()] == ["single-file"] * 4
        assert (study.rows, study.repeats) == (("countdown_timer", "password_generator"), 2)
        await sees(pilot, "2 cases × 1 agent")
        assert "queued" in screen_text(app), "nobody executes it here"
        await pilot.press("1", "X")
        dialog = await dialog_of(pilot)
        assert dialog.query_one("#agents", MultiPick).value == ("single-file",), "what was chosen is remembered"
        assert dialog.values["repeats"] == "2"


async def test_the_other_kind_keeps_what_was_marked_and_each_mistake_is_said_at_its_field(launched):
    async with cases((80, 24)) as (pilot, screen):
        app = pilot.app
        await pilot.press("space", "X")
        dialog = await dialog_of(pilot)
        dialog.query_one("#compare", CycleField).focus()
        await pilot.press("right")
        await sees(pilot, "evaluators")
        await sees(pilot, " source ")
        assert dialog.values["cases"] == ("countdown_timer",)
        assert "1 source × 2 doc systems" in screen_text(app)
        await until(pilot, lambda: isinstance(dialog.focused, CycleField), "the field where one was")
        for field, text, said in (
            ("k", "1, 9", "pass@9 of 3 samples is not defined"),
            ("spend", "much", "spend must be a number of 0 or more"),
            ("name", "docs", "name of a bundled study"),
        ):
            entry = dialog.query_one(f"#{field}")
            before = entry.value
            entry.value = text
            start = dialog.query_one("#start")
            # A button takes no second press while it still shows the first.
            await until(pilot, lambda start=start: not start.has_class("-active"), "the button")
            start.focus()
            await pilot.press("enter")
            await until(pilot, lambda said=said: said in " ".join(screen_text(app).replace("│", " ").split()), said)
            await until(pilot, lambda entry=entry: entry.has_focus, f"the field {field}")
            entry.value = before
        picked = await pick(pilot, "docs")
        await pilot.press("tab", *"orginal", "enter")
        await until(pilot, lambda: "orginal" in picked.rows.marked, "a name that was typed")
        await pilot.press("tab", "enter")
        await until(pilot, lambda: app.screen is dialog, "the dialog")
        await pilot.press("ctrl+g")
        await sees(pilot, "There is no doc system 'orginal'")
        assert dialog.focused is dialog.query_one("#docs")
    assert not launched


async def test_a_declaration_is_saved_and_opened_again(tmp_path, launched):
    place = tmp_path / "mine.toml"
    async with cases() as (pilot, screen):
        app = pilot.app
        await pilot.press("space", "space", "X")
        dialog = await dialog_of(pilot)
        dialog.query_one("#checks").focus()
        await pilot.press("right")
        await sees(pilot, "check each README in a sandbox")
        for write in (True, False):
            await pilot.press("ctrl+s")
            await on(pilot, AskText)
            app.screen.query_one("LineInput").value = str(place)
            await pilot.press("enter")
            if not write:
                await on(pilot, Confirm)
                await pilot.press("n")
            await on(pilot, NewStudyDialog)
            await until(pilot, place.exists, "the file")
        saved = read_study_file(place)
        assert (saved.name, saved.rows) == ("my-agents", ("countdown_timer", "password_generator"))
        assert saved.measures == ("score", "works", "claims")
        await pilot.press("escape", "5")
        begin = app.screen.query_one(TemplateList)
        await until(pilot, lambda: begin.has_focus, "the ways to begin")
        assert [way.name for way in begin.rows] == ["new study", "agents", "docs", "paper", "study.toml"]
        await pilot.press("G", "enter")
        await on(pilot, AskText)
        app.screen.query_one("LineInput").value = str(place)
        await pilot.press("enter")
        dialog = await dialog_of(pilot)
        assert dialog.answer(dialog.values) == saved
        await pilot.press("escape")
        begin.focus()
        await pilot.press("g", "j", "enter")
        dialog = await dialog_of(pilot)
        assert "6 cases × 5 agents = 30 trials" in screen_text(app)
        assert dialog.values["cases"] == ("all",)


async def test_an_interrupted_study_goes_on_is_cancelled_and_reported(tmp_path, launched, monkeypatch):
    reported = []
    monkeypatch.setattr(writing, "write_study_in_subprocess", lambda *order: reported.append(order))
    path = tmp_path / "half.session"
    create(path)
    study = Study("half", DOCS, ("word_counter",), (StudyColumn("none", "stub"),), samples=2, k=(1,))
    with SessionWriter(path) as writer:
        writer.put_study(study.name, study.to_json())
        run = put_run(writer, "word_counter", "none", state="running")
        put_candidates(writer, run, put_task(writer, run, "word_counter", "none", 0), "stub", ["failed", None])
        cell = StudyCellRow(**cell_of(study, "word_counter", study.columns[0], run))
        writer.put_study_cells([cell], instead_of=study.name)
    with SessionWriter(path) as writer, writer.transaction() as connection:
        connection.execute("DELETE FROM leases")
    async with study_of(path, (120, 30)) as (pilot, screen):
        app = pilot.app
        await sees(pilot, "‖ interrupted: u resumes", " u go on")
        assert " c cancel" not in screen_text(app)
        await pilot.press("u")
        await until(pilot, lambda: launched == [(path, "half")], "the process that goes on")
        await pilot.press("x")
        await on(pilot, ReportDialog)
        assert "parquet (the same rows as csv)" in " ".join(screen_text(app).replace("│", " ").split())
        app.screen.query_one("#file").value = str(tmp_path / "half.tex")
        await pilot.press("enter")
        await until(pilot, lambda: reported == [(path, "half", "latex", tmp_path / "half.tex")], "the report")


def test_a_case_named_like_a_repository_of_the_paper_is_another_row(monkeypatch):
    cases, problems = starting.load_cases()
    own = replace(cases[0], id="Schema", kind="own")
    monkeypatch.setattr(starting, "load_cases", lambda: ((*cases, own), problems))
    names = [option.name for option in starting.offered("agents")["cases"]]
    assert len({name.casefold() for name in names}) == len(names)
    assert {"Schema", "keleshev/schema"} <= set(names)
