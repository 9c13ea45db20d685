"""Usage runs end to end: tasks from a project's tests, readers of its pages, verdicts in a real sandbox, and figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from engine.following import ended, error
from scripted_model import ScriptedModel
from usage.project import README, make_project

from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.orders import running
from workbench.orders.rerun import RerunOrder
from workbench.orders.usage import UsageOrder
from workbench.plans.usage import UsagePlan
from workbench.results.usage import PageUse, UsageResults
from workbench.session import SessionReader

Until = Callable[..., object]
pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("needs_bubblewrap", "one_cache")]


def measured(session: Path, source: Path | str, until: Until, **options: object) -> UsageResults:
    """Order a usage run, wait for it, and return its results."""
    order = UsageOrder(session, UsagePlan(source=str(source), **options))
    order.begin()
    (run,) = order.runs
    assert ended(session, run, until) == "done", error(session, run)
    return results(session, run)


def results(session: Path, run: str) -> UsageResults:
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return UsageResults.read(reader, row)


def passes(found: UsageResults, page: PageUse) -> dict[str, bool]:
    """Return whether the first answer of each task passes, by the name of what the task calls."""
    return {one.task.target.name: one.result.passed == one.result.counted for one in found.lines(page)}


@pytest.fixture
def session(scripted: ScriptedModel, tmp_path: Path) -> Path:
    return tmp_path / "use.session"


def test_a_page_is_worth_what_it_names_and_a_mended_example_turns_its_task(
    session: Path, tmp_path: Path, until: Until
) -> None:
    project = make_project(tmp_path / "bookwords")
    found = measured(session, project, until)
    (used,) = found.readers
    (page,) = used.pages
    named = {"bookwords.slug", "bookwords.initials", "python -m bookwords FILE"}
    unnamed = {"bookwords.Shelf.rows", "python -m bookwords --lines FILE"}
    assert passes(found, page) == dict.fromkeys(named, True) | dict.fromkeys(unnamed, False)
    assert (page.named, found.ready) == (3, 5)
    assert used.none is not None
    assert used.source is not None
    assert used.none.use_at[0].value == 0.0
    assert used.source.use_at[0].value == 1.0
    assert page.use_at[0].value == pytest.approx(0.6)
    assert page.worth is not None
    assert page.worth.value == pytest.approx(0.6)
    assert found.controls == {"package": pytest.approx(0.6), "reference": 1.0, "stub": 0.0, "table": 0.0}
    by_name = {one.task.target.name: one for one in found.lines(page)}
    assert by_name["bookwords.slug"].line == README.splitlines().index('slug("Big Red")') + 1
    assert by_name["bookwords.Shelf.rows"].gap is not None
    assert by_name["bookwords.Shelf.rows"].gap.kind == "unnamed"

    wrong = tmp_path / "wrong.md"
    wrong.write_text(README.replace('slug("Big Red")', '>>> slug("Big Red", sep="_")\n"big_red"'))
    found = measured(session, project, until, readme=str(wrong))
    (used,) = found.readers
    _, page = sorted(used.pages, key=lambda one: one.context == "wrong.md")[:2]
    pages = {one.context.partition("@")[0]: one for one in used.pages}
    assert pages.keys() == {"README", "wrong.md"}
    lines = {one.task.target.name: one for one in found.lines(pages["wrong.md"])}
    gap = lines["bookwords.slug"].gap
    if gap is not None:
        assert gap.kind == "wrong example"
        assert "sep" in gap.gives
    assert pages["README"].use_at[0].value == pytest.approx(0.6)


def test_the_command_prints_the_figures_and_ends_with_a_summary(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path / "bookwords")
    assert main(["usage", str(project / "README.md"), "--session", str(session), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    summary = lines[-1]
    assert summary["type"] == "summary"
    assert {name: summary[name] for name in ("tasks", "named", "use_at_k", "none", "source", "bypassed")} == {
        "tasks": 5, "named": 3, "use_at_k": {"1": 0.6}, "none": {"1": 0.0}, "source": {"1": 1.0}, "bypassed": 0,
    }  # fmt: skip
    assert summary["worth"] == pytest.approx(0.6)
    low, high = summary["interval"]["1"]
    assert low < 0.6 < high
    assert {line["type"] for line in lines} >= {"task", "candidate", "use"}
    (tmp_path / "Draft.md").write_text("`initials`\n")  # sorts before README
    for page, figures in (("Draft.md", ({"1": 0.2}, 1)), ("none", ({}, None)), ("README", ({"1": 0.6}, 3))):
        named = str(tmp_path / page) if page == "Draft.md" else page
        assert main(["usage", str(project), "--readme", named, "--session", str(session), "--json"]) == 0
        summary = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert (summary["page"] or "none").partition("@")[0] == page
        assert (summary["use_at_k"], summary["named"]) == figures
        assert (summary["none"], summary["source"]) == ({"1": 0.0}, {"1": 1.0})
    assert main(["show", str(session)]) == 0
    shown = capsys.readouterr().out
    assert "0.60" in shown
    assert "Never named" in shown


def test_a_model_reads_the_page_and_its_answers_are_told_apart(
    session: Path, tmp_path: Path, until: Until, scripted: ScriptedModel
) -> None:
    project = make_project(tmp_path / "bookwords")

    def answer(body: dict[str, object]) -> str:
        text = json.dumps(body)
        knows = "shortens a name" in text
        if "initials" not in text and "def slug" not in text:
            return "<think>hm</think>\n```python\ndef answer(a):\n    return '-'.join(a.lower().split())\n```"
        if not knows and "def initials" not in text:
            return "I cannot."
        return "```python\nfrom bookwords import initials\n\ndef answer(a):\n    return initials(a)\n```"

    scripted.answer = answer
    options = {"evaluator": "openai/scripted", "samples": 1, "tasks": ("*initials", "*slug")}
    found = measured(session, project, until, **options)
    (used,) = found.readers
    (page,) = used.pages
    assert passes(found, page) == {"bookwords.initials": True, "bookwords.slug": False}
    assert used.none is not None
    verdicts = {row.verdict for row in found.candidates if row.context == "none"}
    assert verdicts == {"bypassed", "failed"}
    assert used.none.bypassed == 1
    seen = len(scripted.seen)
    running.resume(session)
    assert len(scripted.seen) == seen
    again = measured(session, project, until, **(options | {"evaluator": f"replay:{session}"}))
    assert len(scripted.seen) == seen
    replayed = next(one for one in again.readers if one.reader.startswith("replay:"))
    assert passes(again, replayed.pages[0]) == passes(found, page)


def test_interrupted_and_rerun_it_does_only_what_is_missing(session: Path, tmp_path: Path, until: Until) -> None:
    project = make_project(tmp_path / "bookwords")
    order = UsageOrder(session, UsagePlan(source=str(project), tasks=("*slug", "*initials")))
    order.begin()
    (run,) = order.runs
    launching_done = ended(session, run, until)
    assert launching_done == "done", error(session, run)
    before = {row.id: row.at for row in results(session, run).candidates}
    assert running.resume(session) == []
    RerunOrder(session, "*slug").begin()
    assert ended(session, run, until) == "done", error(session, run)
    after = {row.id: row for row in results(session, run).candidates}
    again = {after[key].task_id for key, at in before.items() if after[key].at != at}
    assert len(again) == 1
    assert after.keys() == before.keys()


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "no tests"),
        ({"tests/test_none.py": "def test_nothing():\n    pass\n"}, "call no public function"),
        (
            {
                "tests/test_one.py": "from lone import f\ndef test_one():\n    assert [f(lambda: each) for each in (1, 2, 3)]\n"
            },
            "no literal",
        ),
        ({"tests/test_two.py": "from lone import f\ndef test_two():\n    assert f(1) == 1\n"}, "fewer than three"),
    ],
    ids=["no-tests", "no-calls", "no-literals", "few-calls"],
)
def test_a_project_without_tasks_gets_one_sentence(
    files: dict[str, str], why: str, session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "lone"
    (project / "tests").mkdir(parents=True)
    (project / "lone.py").write_text("def f(x):\n    return 1\n")
    (project / "pyproject.toml").write_text('[project]\nname = "lone"\nversion = "1"\n')
    for name, text in files.items():
        (project / name).write_text(text)
    assert main(["usage", str(project), "--session", str(session)]) != 0
    printed = capsys.readouterr().err
    sentence = next(line for line in printed.splitlines() if line.startswith("workbench:"))
    assert re.search(why, sentence), printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("page", "content"),
    [("page.bin.md", b"\0" * 100), ("missing.md", None)],
    ids=["binary", "missing"],
)
def test_an_unusable_page_is_refused_before_anything_is_written(
    page: str, content: bytes | None, session: Path, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / page).write_bytes(content)
    with pytest.raises(UsageError):
        UsageOrder(session, UsagePlan(source="word_counter", readme=str(tmp_path / page))).submit()
    assert not session.exists()


@pytest.mark.parametrize(
    "text", ["", "No code at all.\n" * 3, "Title\n=====\n\n``initials`` is a function.\n", "x" * 1_900_000]
)
def test_any_page_is_measured(text: str, session: Path, tmp_path: Path, until: Until) -> None:
    project = make_project(tmp_path / "bookwords")
    page = tmp_path / "page.rst"
    page.write_text(text)
    found = measured(session, project, until, readme=str(page), tasks=("*initials",))
    (shown,) = found.readers[0].pages
    assert passes(found, shown) == {"bookwords.initials": "``initials``" in text}
    assert shown.named == int("``initials``" in text)
