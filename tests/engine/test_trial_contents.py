"""A trial belongs to the content that it was planned with: changed sources give new trials, and nothing is mixed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.author import Author
from loopback.server import LoopbackServer

from workbench.base import paths
from workbench.cli import main
from workbench.orders import launching
from workbench.orders.rerun import RerunTrialOrder
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.identity import trial_id
from workbench.session.rows import TrialRow

MODEL = ["--model", "openai/scripted", "--judge", "offline"]
Until = Callable[..., Any]


@pytest.fixture
def author(scripted: LoopbackServer) -> Author:
    scripted.answer = made = Author()
    return made


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "contents.session"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "counter"
    made.mkdir()
    (made / "word_counter.py").write_text("print('one')\n")
    (made / "pyproject.toml").write_text("[project]\nname = 'counter'\n")
    return made


def change(folder: Path) -> None:
    (folder / "word_counter.py").write_text("print('something else')\n")


def trials(session: Path) -> list[TrialRow]:
    with SessionReader(session) as reader:
        return reader.trials()


def planned(session: Path, *cases: str) -> tuple[str, ...]:
    plan = DocumentPlan(cases, model="openai/scripted", judge="offline")
    run = plan_document(session, plan)
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return DocumentPlan.from_json(row.config).trials


def observations(session: Path, trial: TrialRow) -> str:
    with SessionReader(session) as reader:
        return "\n".join(reader.text(step.observation_blob) for step in reader.steps(trial.id))


def test_a_changed_folder_is_another_trial_beside_the_old_one(author, session, folder, scripted, capsys):
    command = ["run", str(folder), *MODEL, "--session", str(session)]
    assert main([*command, "--json"]) == 0
    (first,) = json.loads(capsys.readouterr().out.splitlines()[-1])["cases"]
    change(folder)
    assert main([*command, "--json"]) == 0
    (second,) = json.loads(capsys.readouterr().out.splitlines()[-1])["cases"]
    assert second["trial"] != first["trial"]
    assert second["content"] != first["content"]
    old, new = trials(session)
    assert (old.id, new.id) == (first["trial"], second["trial"])
    assert "something else" in observations(session, new)
    assert "something else" not in observations(session, old)
    # Both have the same name: they are told apart wherever they are listed.
    assert main(["show", str(session)]) == 0
    told = capsys.readouterr().out
    assert f"@{old.content[:8]}" in told
    assert f"@{new.content[:8]}" in told
    # What did not change is not done again.
    asked = len(scripted.seen)
    assert main(command) == 0
    assert f"@{new.content[:8]}" in capsys.readouterr().out
    assert len(scripted.seen) == asked
    assert len(trials(session)) == 2


def test_the_ground_truth_is_part_of_the_content(author, session, home, folder, tmp_path):
    case = paths.own_cases_dir() / "mine"
    shutil.copytree(folder, case / "repository")
    text = 'id = "mine"\nname = "mine"\nkind = "own"\n[facts]\nmain_purpose = "Counting words"\n'
    (case / "case.toml").write_text(text)
    first = planned(session, "mine")
    assert planned(session, "mine") == first
    (case / "case.toml").write_text(text.replace("Counting", "Weighing"))
    second = planned(session, "mine")
    assert second != first
    (case / "case.toml").write_text(text)
    assert planned(session, "mine") == first
    change(case / "repository")
    assert planned(session, "mine") not in (first, second)


def test_a_local_branch_that_moved_on_is_another_trial(author: Author, session: Path, folder: Path) -> None:
    def git(*arguments: str) -> None:
        name = ["-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(folder), *name, *arguments], check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "one")
    first = planned(session, f"{folder}@main")
    change(folder)
    assert planned(session, f"{folder}@main") == first  # not committed
    git("commit", "-am", "two")
    assert planned(session, f"{folder}@main") != first


def test_an_interrupted_trial_goes_on_with_the_content_it_began_with(author, session, folder, until, monkeypatch):
    author.stop_at = 2
    (identity,) = planned(session, str(folder))
    run = trials(session)[0].run_id
    process = launching.launch(session, run)
    until(author.reached.is_set, 60)
    process.terminate()
    assert process.wait(30) == 130
    change(folder)
    author.stop_at = 0
    author.go.set()
    # Wherever the resume comes from.
    monkeypatch.chdir(session.parent)
    assert main(["resume", str(session)]) == 0
    (trial,) = trials(session)
    assert (trial.id, trial.state) == (identity, "done")
    assert "print('one')" in observations(session, trial)
    assert "something else" not in observations(session, trial)


def test_an_interrupted_trial_whose_content_is_gone_says_so_and_mixes_nothing(author, session, folder, until, capsys):
    author.stop_at = 2
    planned(session, str(folder))
    process = launching.launch(session, trials(session)[0].run_id)
    until(author.reached.is_set, 60)
    process.terminate()
    assert process.wait(30) == 130
    before = observations(session, trials(session)[0])
    change(folder)
    shutil.rmtree(paths.cache_dir() / "snapshots")
    author.stop_at = 0
    author.go.set()
    assert main(["resume", str(session), "--json"]) == 1
    (case,) = json.loads(capsys.readouterr().out.splitlines()[-1])["cases"]
    assert case["status"] == "failed"
    assert "The repository of counter has changed since this trial was ordered" in case["error"]
    (trial,) = trials(session)
    assert observations(session, trial) == before
    assert main(["run", str(folder), *MODEL, "--session", str(session)]) == 0
    assert [row.state for row in trials(session)] == ["failed", "done"]


def test_rerun_takes_the_content_as_it_is_now(author: Author, session: Path, folder: Path, until: Until) -> None:
    (first,) = planned(session, str(folder))
    change(folder)
    second = RerunTrialOrder(session, first).begin().trial
    until(lambda: {row.id: row.state for row in trials(session)}[second] == "done", 90)
    old, new = trials(session)
    assert (old.content == new.content, new.repeat) == (False, 2)
    assert "something else" in observations(session, new)


def test_a_trial_of_an_older_version_is_known_by_its_repository(author: Author, session: Path, folder: Path) -> None:
    (now,) = planned(session, str(folder))
    (row,) = trials(session)
    older = trial_id(row.agent, row.model, "counter", 1)
    with SessionWriter(session) as writer:
        writer.update("trials", {"id": now}, {"id": older, "content": ""})
    assert planned(session, str(folder)) == (older,)
    change(folder)
    assert planned(session, str(folder)) not in ((older,), (now,))


def test_a_folder_is_found_again_from_another_place(author, session, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder.parent)
    first = planned(session, "./counter")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert planned(session, trials(session)[0].case_id) == first
