"""No text from outside is markup or a control sequence in the app: by construction, and with names that would be one."""

import ast
import json
import os
import sys
from pathlib import Path

import pytest
import recorded
import regenerated
from rich.segment import Segment
from rich.style import Style
from samples.hostile_names import FILE, FILE_SHOWN, MARKUP, NAME, SHORT, SHOWN, obeyed
from textual.color import Color

import workbench
from workbench.app.cases.run_dialog import RunDialog
from workbench.app.toolkit.export_dialog import ReportDialog
from workbench.app.toolkit.form import AskText
from workbench.app.toolkit.literal import ControlCharFilter
from workbench.base import paths
from workbench.base.settings import Settings
from workbench.orders.ordered_asks import last_ask
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionWriter, engine_starts
from workbench.session.identity import candidate_id, trial_id

ROOM = Path(workbench.__file__).parent / "app"


# -- by construction


def markup_in(source: str) -> list[str]:
    """Return what in a module of the app goes past the one place where text becomes styled."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="textual.widgets", names=names):
                found += [f"textual.widgets.{name.name}" for name in names if name.name != "Input"]
            case ast.ImportFrom(module="textual", names=names):
                found += [f"textual.{name.name}" for name in names if name.name == "widgets"]
            case ast.ImportFrom(module="rich.markup" | "textual.markup" | "rich.console" | "rich.text" as module):
                found.append(str(module))
            case ast.Import(names=names):
                found += [name.name for name in names if name.name.startswith(("textual.widgets", "rich.markup"))]
            case ast.Attribute(attr="from_markup" | "from_text" | "render_str" | "from_rich_text" as name):
                found.append(name)
            case ast.Attribute(
                attr="border_title"
                | "border_subtitle"
                | "tooltip"
                | "sub_title"
                | "_border_title"
                | "_border_subtitle" as name,
                ctx=ast.Store(),
            ):
                found.append(name.removeprefix("_"))
            case ast.keyword(arg="markup" | "tooltip" as name):
                found.append(f"{name}=")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="matcher"), attr="highlight")):
                found.append("highlight")
            case ast.Call(func=ast.Name(id="Hit" | "DiscoveryHit"), args=args, keywords=more) if more:
                literals = [ast.unparse(one) for one in args]
                if not any(one.startswith(("literal(", "highlighted(", "highlighted_at(")) for one in literals):
                    found.append("a hit of the palette that is no content")
            case ast.Assign(targets=[ast.Name(id="BORDER_TITLE" | "BORDER_SUBTITLE" | "SUB_TITLE" as name)]):
                found.append(name)
    return found


def test_only_one_place_makes_text_styled():
    may = {
        "toolkit/literal.py": {"border_title", "border_subtitle"},
        "toolkit/text_widgets.py": {"textual.widgets", "markup="},
        "toolkit/edit_screen.py": {"textual.widgets"},
        "app.py": {"markup="},
    }
    wrong = {}
    for path in sorted(ROOM.rglob("*.py")):
        name = str(path.relative_to(ROOM))
        found = set(markup_in(path.read_text(encoding="utf-8"))) - may.get(name, set())
        if found:
            wrong[name] = found
    assert wrong == {}
    assert set(markup_in((ROOM / "toolkit/literal.py").read_text(encoding="utf-8"))) == may["toolkit/literal.py"]


def test_what_would_read_markup_is_found():
    for source in (
        "from textual.widgets import Static, Input",
        "pane.border_title = name",
        "Content.from_markup(name)",
        "self.notify(name, markup=True)",
        "Hit(score, name, run, help=text)",
        "class A:\n    BORDER_TITLE = '[b]'",
    ):
        assert markup_in(source)


def test_the_last_net_keeps_columns_and_lets_nothing_through():
    style = Style(bold=True)
    given = [Segment("plain ✓ 日本"), Segment("a\x1b[31mb\x9b\x07\u202e\r\nc", style), Segment("\ud800|")]
    black = Color(0, 0, 0)
    shown = ControlCharFilter(plain=False).apply(given, black)
    assert [segment.text for segment in shown] == ["plain ✓ 日本", "a[31mbc", " |"]
    assert shown[1].style is style
    assert sum(segment.cell_length for segment in shown) == sum(segment.cell_length for segment in given)
    ascii_only = ControlCharFilter(plain=True).apply([Segment("╭─┤✓✗⧖∅↯·▸…│日é")], black)
    assert ascii_only[0].text == "+-+PFTIE.>.|???"
    untouched = [Segment("nothing to do")]
    assert ControlCharFilter(plain=True).apply(untouched, black) is untouched


# -- with names that would be markup


async def test_a_notice_is_literal_whoever_asks_for_it(start):
    async with start() as person:
        await person.sees("word_counter")
        person.app.notify(NAME, title=NAME)
        person.app.screen.notify(f"screen {NAME}", title=SHORT, severity="error", markup=True)
        person.app.screen.case_list.notify(f"widget {NAME}", severity="warning")
        await person.sees("screen [/x]", "widget [/x]", "[@click=app.quit]x[/]")
        assert obeyed(person.screen_text) == []


def hostile_trial(path: Path) -> None:
    """Record a trial of which everything that has a name is called like markup."""
    made = recorded.Recorder(path)
    made.writer.add_run(recorded.RUN, "document", {"cases": [NAME], "judge": NAME})
    for repeat in (1, 2):
        name = trial_id(NAME, NAME, NAME, repeat)
        made.writer.add_trial(name, recorded.RUN, repeat - 1, (NAME, NAME), NAME, NAME, repeat)
        made.snapshot(name, [(f"{SHORT}a.py", 10), (f"{FILE}/b.py", 20)])
        made.tool(name, 1, SHORT, NAME, f"seen {NAME}\n" * 3, thought=NAME, messages=[(NAME, NAME), ("user", NAME)])
        made.step(name, 2, "invalid", NAME, NAME, answer=NAME, problem=NAME)
        made.seen(name, f"{SHORT}a.py", "read", 1, 10)
        proofs = [
            {"kind": kind, "text": NAME, "start": None, "end": None, "path": NAME, "line": 3}
            for kind in ("fact", "judge")
        ]
        criterion = {"key": NAME, "title": NAME, "reason": NAME, "judged_by": NAME, "samples": [], "maximum": 5}
        criteria = [
            {**criterion, "tier": 1, "points": 5, "evidence": proofs},
            {**criterion, "tier": 3, "points": None, "evidence": []},
        ]
        for rubric in (NAME, "aeo-bench"):
            card = {"rubric": rubric, "judge": NAME, "total": 5, "out_of": 10, "criteria": criteria, "spread": []}
            made.score(name, card)
        made.finish(name, readme=f"# {NAME}\n\n{NAME}\n", metadata={"name": NAME, NAME: [NAME]})
    made.writer.annotate(name, NAME, 1)
    failed = trial_id(NAME, NAME, "failed", 1)
    made.writer.add_trial(failed, recorded.RUN, 5, ("failed", NAME), NAME, NAME, 1)
    made.writer.set_trial(failed, state="failed", error_kind="timeout", error=NAME)
    made.writer.set_run(recorded.RUN, state="failed", error=NAME)
    made.close()


def hostile_regeneration(path: Path) -> None:
    """Record a regeneration of which everything that has a name is called like markup, with checks that fail."""
    made = regenerated.Recorder(path)
    made.run(state="failed", evaluator=NAME, source=NAME, docs=NAME, sandbox=NAME)
    made.stage("fetch", 0, "done", 4, 4, NAME)
    made.stage("suite", 1, "done", 4, 4, "4 stable")
    made.unused([("unstable", NAME, NAME), ("failing", NAME, NAME)])
    made.stage(NAME, 2, "failed", 1, 4, NAME)
    made.dropped(NAME, "trace", NAME, path=NAME)
    more = {
        "route_fallback_reason": NAME,
        "suspicious": json.dumps([NAME]),
        "backend": SHORT,
        "notes": json.dumps([NAME]),
    }
    prompt = last_ask(RegenerationPlan(NAME, evaluator=NAME)).prompt_version
    cold = json.dumps({"why": NAME, "verdict": NAME, "route": "cold", "seconds": 1.2, "agrees": False})
    for place in range(3):
        task = made.task(f"{NAME}{place}", place, path=f"{NAME}{place}.py", body=f"return {NAME!r}\n", docstring=NAME)
        ids = [candidate_id(task, NAME, prompt, sample) for sample in range(3)]
        for sample, glyph in enumerate(("✗✓⧖", "✓✗↯", "!∅⊘")[place]):
            shown = {"id": ids[sample], "body": f"{NAME}\n", "answer": NAME, "recheck": cold}
            made.sample(task, sample, glyph, NAME, **shown, **more)
        made.controls([task], stub="✓" if place else "✗")
        made.failing(ids[0], f"tests/{NAME}.py::{NAME}", NAME, f"{NAME}\nE  {NAME}")
    made.writer.update("tasks", {"id": task}, {"state": "excluded", "reason": NAME})
    made.writer.set_run(regenerated.RUN, error=NAME, note=NAME)
    made.close()


async def harmless(person, *keys: str) -> None:
    """Press keys one by one; after each the app lives and shows nothing that a terminal would obey."""
    for key in keys:
        await person.press(key)
        await person.pilot.pause()
        assert person.app.is_running, key
        assert person.app._exception is None, key
        assert obeyed(person.screen_text) == [], key


async def test_a_trajectory_of_hostile_names(start, make_session):
    path = make_session.folder / f"{FILE}.session"
    hostile_trial(path)
    async with start(path) as person:
        await person.sees("[/x]", "Steps")
        await person.until(lambda: person.app.screen.state is not None)
        # Panes, steps, tabs, scores by both rubrics, evidence (which is a notice), README and metadata, trials.
        await harmless(person, "l", "h", "tab", "tab", "tab", "tab", "tab", "s", "s", "j", "e", "e", "e", "m", "D")
        await person.until(lambda: any("[/x]" in notice.message for notice in person.app._notifications))
        await harmless(person, "]", "]", "[", "H", "L", "L", "H", "n")
        await harmless(person, "slash", *"[bold", "enter", "a", *"[", "escape")
        await harmless(person, "question_mark", "escape")
        await person.press("ctrl+p")
        await person.sees("a command, or the name")
        await harmless(person, "[", "escape", "escape")


@pytest.mark.slow
async def test_a_regeneration_of_hostile_names(start, make_session):
    path = make_session.folder / f"{FILE}.session"
    hostile_regeneration(path)
    async with start(path) as person:
        await person.press("4")
        await person.sees("[/x]", "Tasks")
        await harmless(person, "l", "l", "h", "j", "j", "k", "tab", "tab", "tab", "tab", "exclamation_mark", "n")
        await harmless(person, "slash", *"[/x]", "enter", "n", "N", "escape")
        await harmless(person, "f", "right", "down", "right", "end", *"[b", "enter", "F")
        await harmless(person, "D", "tab", "tab", "j", "k", "slash", *"[b", "enter", "escape", "D")
        await harmless(person, "question_mark", "escape", "ctrl+p", "escape")
        await person.sees("[/x]")


async def test_sessions_and_dialogs_with_hostile_names(start, make_session):
    path = make_session.folder / f"{FILE}.session"
    hostile_trial(path)
    (make_session.folder / f"{FILE}damaged.session").write_bytes(b"no session at all")
    async with start(path) as person:
        await person.press("3")
        await person.sees(FILE_SHOWN, "Sessions 3")
        await harmless(person, "j", "k", "g")
        await person.press("d")
        await person.sees("Sessions 2", "was deleted: ctrl+z")
        await person.press("full_stop")
        await person.sees("1 deleted", "deleted just now")
        await harmless(person, "G", "ctrl+z")
        await person.sees("Sessions 3", "Restored")
        await harmless(person, "slash", "x", "enter", "escape", "g", "f2")
        await person.until(lambda: isinstance(person.app.screen, AskText))
        await person.sees("Rename session")
        await harmless(person, "escape", "g", "j", "x")
        await person.until(lambda: isinstance(person.app.screen, ReportDialog))
        await harmless(person, "escape", "g", "enter")
        await person.until(lambda: len(person.app._notifications) > 0)
        await person.sees("[x][bold")
        assert obeyed(person.screen_text) == []


async def passes(person, *keys: str) -> None:
    """Press keys in one go; after the last the app lives and shows nothing that a terminal would obey."""
    await person.press(*keys[:-1])
    await harmless(person, keys[-1])


LONG = f"{'x' * 120}{NAME}{'y' * 180}"
"""Longer than any place for it."""


@pytest.mark.slow
async def test_the_screens_over_a_trajectory_with_hostile_and_long_names(start, make_session, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "NAME", LONG)
    path = make_session.folder / f"{FILE}.session"
    hostile_trial(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.name_run(recorded.RUN, LONG)
        writer.add_run("waits", "document", {"cases": [LONG], "agent": LONG, "model": LONG})
        writer.set_run("waits", queue_position=1.0)
        for repeat in (1, 2):
            writer.set_labels(trial_id(LONG, LONG, LONG, repeat), "", add=("*", "[/x]tag", "z" * 60))
    engine_starts.started("waits", os.getpid())
    async with start(path) as person:
        await person.until(lambda: person.app.screen.state is not None)
        # The table: groups, plots, means by case and agent, filter, two side by side, tags, report.
        await harmless(
            person, "T", "O", "b", "b", "b", "p", "p", "p", "f", "escape", "tab", "l", "tab", "tab", "b", "g"
        )
        await passes(person, "space", "down", "space", "C", "n", "f", "S", "y", "escape", "t", "escape", "escape")
        # Grounding, points, a fork, another model; runs and queue; labels; search; the palette's names.
        await passes(person, "w", "s", "W", "W", "w", "E", "escape", "ctrl+r", "escape")
        await passes(person, "U", "f2", "escape", "j", "d", "full_stop", "ctrl+z", "escape")
        await harmless(
            person, "number_sign", "j", "enter", "alt+left", "escape", "ctrl+f", *"bold", "down", "n", "escape"
        )
        await passes(person, "ctrl+p", *"xxx", "escape", "1", "enter", "escape")


async def test_the_screens_over_a_regeneration_with_hostile_and_long_names(start, make_session, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "NAME", LONG)
    path = make_session.folder / f"{FILE}.session"
    hostile_regeneration(path)
    async with start(path) as person:
        await person.press("4")
        await person.sees("Tasks")
        await passes(person, "w", "j", "tab", "y", "tab", "b", *["right_square_bracket"] * 3, "v", "escape")
        await passes(person, "o", "b", "b", "space", "l", "space", "C", "n", "tab", "escape", "M", "t", "escape")
        # The file's name cannot be typed, so the run would go into a new session.
        await passes(person, "ctrl+n")
        await person.sees("Test documentation")
        await passes(person, "escape")


async def test_a_case_with_a_hostile_name(start, tmp_path):
    folder = paths.own_cases_dir() / "odd"
    (folder / "repository" / "[b]").mkdir(parents=True)
    (folder / "repository" / f"{FILE}.py").write_text(f"class A:\n    def f(self, a={MARKUP!r}):\n        pass\n")
    (folder / "repository" / "[b]" / "[x].md").write_text(NAME)
    (folder / "case.toml").write_text(
        f"name = {json.dumps(SHOWN)}\ndescription = {json.dumps(SHOWN)}\ndomain = {json.dumps(MARKUP)}\n"
        f"source = {json.dumps(str(folder / 'repository'))}\n"
    )
    (paths.own_cases_dir() / "[x]").mkdir()
    (paths.own_cases_dir() / "[x]" / "case.toml").write_text("name = [/x]\n")
    keymap = {f"app.{MARKUP}": "x", "app.theme": "left_square_bracket"}
    async with start(settings=Settings(keymap=keymap)) as person:
        await person.sees("word_counter")
        # What is wrong with the other case is a notice.
        await person.until(lambda: len(person.app._notifications) >= 1)
        await harmless(person, "G", "f5")
        await person.sees("[/x][bold")
        await harmless(person, "tab", "j", "l", "j", "enter", "tab", "tab", "escape", "escape")
        await person.press("1", "G", "enter")
        await person.until(lambda: isinstance(person.app.screen, RunDialog))
        await person.sees("Run [/x][bold")
        await harmless(person, "escape", "V")
        await person.sees("Test documentation")
        await harmless(person, "escape", "question_mark", "escape", "ctrl+p")
        await person.sees("a command, or the name")
