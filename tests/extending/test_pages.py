"""The examples of docs/extending/, taken from the pages and run for real: engine, sandbox and command line included."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app.recorded import Recorder
from engine.tiny_repository import make_repository
from loopback.server import LoopbackServer, failure

from workbench.cli import main
from workbench.sandbox import choose_backend
from workbench.session import SessionReader

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "extending"
BLOCK = re.compile(r"^```python title=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> dict[str, str]:
    """The examples of a page by their titles."""
    return dict(BLOCK.findall((PAGES / f"{page}.md").read_text()))


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with every module of the pages; what is imported from it here is forgotten again."""
    place = tmp_path / "work"
    place.mkdir()
    for page in PAGES.glob("*.md"):
        for title, code in blocks(page.stem).items():
            if title.endswith(".py"):
                (place / title).write_text(code)
    monkeypatch.chdir(place)
    before, path = set(sys.modules), list(sys.path)
    yield place
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(place) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def model(folder: Path, loopback_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    return loopback_server


RUN = ["run", "word_counter", "--model", "openai/scripted", "--session", "demo", "--json"]


@pytest.mark.slow
def test_an_agent_and_a_judge_in_a_run_that_is_resumed_elsewhere(model, home, folder, capsys, monkeypatch):
    mine = ["--agent", "first_lines:FirstLines", "--judge", "length_judge:ByLength"]
    model.answer = lambda body: failure(400, "not now")
    assert main([*RUN, *mine]) == 1
    assert lines(capsys)[-1]["cases"][0]["status"] == "failed"
    # Another working directory: the plan knows from where the classes come.
    monkeypatch.chdir(home)
    model.answer = lambda body: "It counts the words of a text."
    assert main(["resume", "demo", "--json"]) == 0
    (case,) = lines(capsys)[-1]["cases"]
    assert (case["agent"], case["judge"], case["status"]) == (mine[1], mine[3], "done")
    assert None not in case["tiers"].values()
    with SessionReader(home / "data" / "sessions" / "demo.session") as reader:
        (trial,) = reader.trials()
        assert reader.text(trial.readme_blob) == "# word_counter\n\nIt counts the words of a text.\n"
        assert [step.action for step in reader.steps(trial.id)] == ["read_file", "respond"]
        (run,) = reader.runs()
        assert json.loads(run.config)["import_folders"] == [str(folder)]


def test_what_an_agent_lets_out_fails_its_trial_with_file_and_line(model, folder, capsys):
    (folder / "falling.py").write_text(
        "class Falls:\n    async def document(self, context):\n        return context.nothing\n"
    )
    assert main([*RUN, "--agent", "falling:Falls", "--judge", "offline"]) == 1
    (case,) = lines(capsys)[-1]["cases"]
    assert case["error"].startswith("The agent falling:Falls failed: AttributeError: ")
    assert case["error"].endswith("(falling.py, line 3).")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*RUN, "--agent", "first_lines:FirstLine"], "has no FirstLine; did you mean FirstLines?"),
        ([*RUN, "--agent", "length_judge:ByLength"], "is no agent: it lacks document()."),
        ([*RUN, "--judge", "first_lines:FirstLines"], "is no judge: it lacks judge_tier()."),
        ([*RUN, "--judge", "nowhere.at_all:Judge"], "no module nowhere in "),
        (["regenerate", "word_counter", "--docs", "unshared:Unshared"], "is no doc system: it lacks the attribute needs_model"),
        (["regenerate", "word_counter", "--sandbox", "signature_docs:Signatures"], "is no sandbox: it lacks problem()"),
        (["regenerate", "word_counter", "--sandbox", "unshard:Unshared"], "no module unshard in "),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_before_a_session_is_written(model, home, arguments, said, capsys):
    if arguments[0] == "regenerate":
        arguments = [*arguments, "--evaluator", "reference"]
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not list(home.rglob("*.session"))


def test_a_judge_scores_a_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = ROOT / "test_cases" / "word_counter" / "ground_truth" / "README.md"
    arguments = ["score", str(readme), "--case", "word_counter", "--judge", "length_judge:ByLength", "--json"]
    assert main(arguments) == 0
    card = lines(capsys)[-1]
    assert (card["judge"], card["tiers"]["3"], card["tiers"]["4"]) == ("length_judge:ByLength", 30.0, 30.0)


def test_a_criterion_is_one_entry_in_one_file(home: Path, tmp_path: Path) -> None:
    example = blocks("criterion")
    changed = copied(tmp_path) / "rubric" / "strict.py"
    text = changed.read_text()
    if example["entry"] not in text:  # it is there where the page has been followed
        before, found, after = text.partition("RUBRIC = Rubric(")
        entry = after.index("        Rule(")
        assert found
        changed.write_text(f"{before}{example['function']}\n\n{found}{after[:entry]}{example['entry']}{after[entry:]}")
    (tmp_path / "README.md").write_text("# T\n\nLicensed under MIT.\n")
    asked = ["score", "README.md", "--rubric", "strict", "--judge", "offline", "--json"]
    done = in_copy(tmp_path, "from workbench.cli import entry; entry()", *asked)
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    (criterion,) = [line for line in printed if line.get("key") == "license"]
    assert (criterion["points"], criterion["maximum"], criterion["title"]) == (2.0, 2.0, "License")
    assert criterion["evidence"][0]["text"] == "MIT"
    assert (printed[-1]["tiers"]["2"], printed[-1]["out_of"]) == (2.0, 15 + 27 + 30)


COLUMN = """
import asyncio
from workbench.app.app import WorkbenchApp
from workbench.results.samples import SampleState
from workbench.results.tasks import TaskLine
from workbench.app.regeneration.task_table import TaskResultTable
from workbench.base.settings import Settings

async def main():
    app = WorkbenchApp(None, Settings(), warm_engine=False)
    async with app.run_test(size=(160, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        table = TaskResultTable()
        await app.screen.mount(table)
        table.put_tasks([TaskLine("t", "s", "sums.py", "add", 2, 1.0, 0.25, False, False, "", (SampleState("passed"),))], (1,))
        table.styles.width, table.styles.height = 150, 5
        await pilot.pause()
        for row in (0, 1):
            print("".join(text for text, _ in table.parts_of(row, table.text_width)))

asyncio.run(main())
"""


def test_a_column_is_one_entry_in_one_file(home: Path, tmp_path: Path) -> None:
    changed = copied(tmp_path) / "app" / "regeneration" / "task_table.py"
    text = changed.read_text()
    place = (
        text.index('            TableColumn(title="failing"')
        if '            TableColumn(title="failing"' in text
        else text.index('            TableColumn(\n                title="failing"')
    )
    changed.write_text(text[:place] + blocks("column")["entry"] + text[place:])
    heading, row = in_copy(tmp_path, COLUMN).stdout.splitlines()
    end = heading.index("overlap") + len("overlap")
    assert row[:end].endswith(" 25 %"), (heading, row)


FIGURE = """
from workbench.app.sessions.costs import COLUMNS
from workbench.results.costs import ModelCost, total_of

(column,) = [one for one in COLUMNS if one.title == "an answer"]
rows = [ModelCost("m", "document", requests=3, tokens_out=300, uncounted=1), ModelCost("n", "document", requests=2, uncounted=2)]
print(*map(column.cell, rows), column.figure(rows))
"""


def test_a_figure_is_computed_in_one_file_and_shown_by_one_entry(home: Path, tmp_path: Path) -> None:
    example, program = blocks("figure"), copied(tmp_path)
    figures, faces = program / "results" / "costs.py", program / "app" / "sessions" / "costs.py"
    figures.write_text(inserted(figures.read_text(), "    def to_json(", example["figure"] + "\n"))
    faces.write_text(inserted(faces.read_text(), '    _figure("dollars"', example["column"]))
    assert in_copy(tmp_path, FIGURE).stdout.split() == ["150", "–", "150"]


SCREEN = """
import asyncio, sys
from pathlib import Path
from workbench.app.app import WorkbenchApp
from workbench.app.sessions.models import ModelsScreen
from workbench.app.sessions.costs import CostsTable
from workbench.base.settings import Settings

async def main():
    app = WorkbenchApp(Path(sys.argv[1]), Settings(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening or app.reader is None:
            await pilot.pause()
        await app.push_screen(ModelsScreen())
        await pilot.pause()
        print([row.model for row in app.screen.query_one(CostsTable).rows])
        await pilot.press("escape")
        print(isinstance(app.screen, ModelsScreen))

asyncio.run(main())
"""


def test_a_screen_is_one_module(home: Path, tmp_path: Path) -> None:
    example, program = blocks("screen"), copied(tmp_path)
    (program / "app" / "sessions" / "models.py").write_text(example["models.py"])
    keys = program / "base" / "bindings.py"
    keys.write_text(inserted(keys.read_text(), "narrow\n", example["keys"]))
    recorder = Recorder(tmp_path / "demo.session")
    recorder.run()
    recorder.trial("t")
    recorder.step("t", 1, "tool", "read_file", "a.py", messages=(("user", "Hello"),), answer="Hello")
    recorder.close()
    done = in_copy(tmp_path, SCREEN, str(recorder.path))
    assert done.stdout.splitlines() == ["['local']", "False"], done.stderr


def inserted(text: str, before: str, what: str) -> str:
    at = text.index(before)
    return text[:at] + what + text[at:]


def copied(folder: Path) -> Path:
    """A copy of the program, to be changed as a page says."""
    shutil.copytree(ROOT / "themes", folder / "themes")
    return Path(shutil.copytree(ROOT / "workbench", folder / "workbench", ignore=shutil.ignore_patterns("__pycache__")))


def in_copy(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done


@pytest.fixture
def repository(folder, tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    return str(make_repository(tmp_path / "small-sums"))


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_a_doc_system_documents_a_repository(repository, home, folder, capsys):
    docs = "signature_docs:Signatures"
    arguments = ["regenerate", repository, "--docs", docs, "--evaluator", "reference", "--session", "demo", "--json"]
    assert main(arguments) == 0
    assert lines(capsys)[-1]["pass_at_k"]["1"] == 1.0
    with SessionReader(home / "data" / "sessions" / "demo.session") as reader:
        (run,) = reader.runs()
        tasks = reader.tasks(run.id)
        assert {task.docs for task in tasks} == {docs}
        texts = {task.qualified_name: reader.text(task.docstring_blob) for task in tasks}
    assert texts["add"] == "Take first: int, second: int (line 4)."
    # The list of tasks shows the same docstrings under the same ids, without a run.
    assert main(["tasks", repository, "--docs", docs, "--json"]) == 0
    listed = {line["id"]: line["docstring"] for line in lines(capsys) if line["type"] == "task"}
    assert listed == {task.id: texts[task.qualified_name] for task in tasks}


COSTLY = """
from pathlib import Path
from workbench.documenters import DocumentationProgress, Docstring

class Costly:
    needs_model = True

    async def prepare(self, snapshot, report):
        with Path("{folder}/prepared").open("a") as calls:
            calls.write("prepare ")
        report(DocumentationProgress(1, 2, "half", cost_usd=0.25))
        report(DocumentationProgress(2, 2, "all", cost_usd=0.5))

    async def docstring(self, path, qualified_name, occurrence):
        if qualified_name == "shout":
            raise ValueError("no idea")
        with Path("{folder}/prepared").open("a") as calls:
            calls.write(qualified_name + " ")
        return Docstring("Do " + qualified_name)
"""


@pytest.mark.nightly
@pytest.mark.sandbox
@pytest.mark.network
def test_what_a_doc_system_costs_is_counted_and_paid_once(repository, home, folder, capsys):
    (folder / "costly.py").write_text(COSTLY.format(folder=folder))
    arguments = ["regenerate", repository, "--docs", "costly:Costly", "--evaluator", "reference", "--session", "demo"]
    assert main([*arguments, "--task", "add", "--json"]) == 0
    # With the scope of the repository all of the file is documented at once, whoever is asked for.
    assert (folder / "prepared").read_text() == "prepare add clamp unused "
    with SessionReader(home / "data" / "sessions" / "demo.session") as reader:
        assert reader.runs()[0].spend_usd == 0.5
    # Another order on the same run: what the session has is not asked for again.
    assert main([*arguments, "--task", "add", "--samples", "2", "--json"]) == 0
    assert (folder / "prepared").read_text() == "prepare add clamp unused "
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    assert (folder / "prepared").read_text() == "prepare add clamp unused prepare "
    with sqlite3.connect(home / "data" / "sessions" / "demo.session") as session:
        (why,) = session.execute("SELECT reason FROM dropped WHERE stage = 'documentation'").fetchone()
    session.close()
    assert why == "The doc system costly:Costly failed: ValueError: no idea (costly.py, line 16)."


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_a_back_end_tests_candidates_and_says_what_it_does_not_isolate(repository, home, folder, capsys, monkeypatch):
    problem = choose_backend("unshared:Unshared").problem()
    assert problem is None, problem
    arguments = ["regenerate", repository, "--evaluator", "reference", "--session", "demo", "--json"]
    assert main([*arguments, "--sandbox", "unshared:Unshared"]) == 0
    assert lines(capsys)[-1]["pass_at_k"]["1"] == 1.0
    with SessionReader(home / "data" / "sessions" / "demo.session") as reader:
        (run,) = reader.runs()
        assert {row.backend for row in reader.candidates(run.id)} == {"unshared:Unshared"}
    plan = json.loads(run.config)
    assert (plan["sandbox"], plan["weaknesses"]) == ("unshared:Unshared", ["NOT isolated"])
    assert plan["import_folders"] == [str(folder)]
    # Moved and replayed from another directory, by the setting instead of the option.
    monkeypatch.chdir(home)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("WORKBENCH_SANDBOX", "unshared:Unshared")
    assert main([*arguments[:-2], "other", "--json"]) == 0
    assert lines(capsys)[-1]["sandbox"] == "unshared:Unshared"


def test_contributing_leads_to_every_page() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text()
    for page in ("criterion", "agent", "back-end", "doc-system", "judge", "column"):
        assert f"docs/extending/{page}.md" in told
        assert blocks(page)
        for named in re.findall(r"`((?:workbench|tests)/[\w/]+(?:\.py)?/?)`", (PAGES / f"{page}.md").read_text()):
            assert (ROOT / named).exists(), f"{page}.md names {named}"
