"""READMEs of recorded trials checked by an engine, in a real sandbox: kept, resumed, cancelled, one block once more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from checking.planted import README, planted, write_project
from engine.following import ended, error

from workbench.catalog import resolve_case, snapshot_of
from workbench.checking.verdicts import BlockVerdict, CheckResult, from_json
from workbench.cli import main
from workbench.orders import launching, running
from workbench.orders.check import CheckOrder
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.pending_work import unfinished
from workbench.session.rows import CheckRow

Until = Callable[..., Any]
pytestmark = [pytest.mark.usefixtures("one_cache"), pytest.mark.xdist_group("checking")]

SLOW = """# wordstat

```python
print("before")
```

```python
while True:
    pass
```

The option `--stopwach` says how long it took.
"""


class Recorded:
    """A session with trials on one small project."""

    def __init__(self, folder: Path) -> None:
        self.root = write_project(folder / "wordstat")
        self.session = folder / "recorded.session"
        create(self.session)
        case = resolve_case(str(self.root))
        self._case, self._snapshot = (str(self.root), case.name), snapshot_of(case)
        with SessionWriter(self.session) as writer:
            writer.add_run("run-1", "document", {"cases": [str(self.root)], "judge": "offline"})
            writer.set_run("run-1", state="done")

    def hand_in(self, trial: str, readme: str | None, snapshot: str = "") -> None:
        with SessionWriter(self.session) as writer:
            writer.add_trial(trial, "run-1", 0, self._case, "white", "local", 1)
            blob = writer.blob(readme) if readme is not None else None
            writer.set_trial(
                trial, state="done", parsed=1, readme_blob=blob, snapshot=snapshot or self._snapshot.digest
            )

    def row(self, trial: str) -> CheckRow:
        with SessionReader(self.session) as reader:
            return reader.checks(trial)[-1]

    def checked(self, trial: str) -> CheckResult:
        with SessionReader(self.session) as reader:
            row = reader.checks(trial)[-1]
            assert row.result_blob is not None
            return from_json(reader.text(row.result_blob))


@pytest.fixture
def recorded(home: Path, tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_a_check_is_kept_and_not_done_twice(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    recorded.hand_in("good", README)
    readme, lines = planted(["wrong output", "wrong default"])
    recorded.hand_in("bad", readme)
    recorded.hand_in("none", None)
    ordered = ["check", "--session", str(recorded.session)]
    assert main(ordered) == 1
    out = capsys.readouterr().out
    assert f"README.md:{lines['wrong output']}: differs" in out
    assert f"README.md:{lines['wrong default']}: untrue: 72: the default of --columns is 80" in out
    good, bad = recorded.row("good"), recorded.row("bad")
    assert (good.state, good.fails, good.differs, good.claims_untrue) == ("done", 0, 0, 0)
    assert good.works
    assert good.claims_true
    assert (bad.state, bad.works, bad.differs, bad.claims_untrue) == ("done", good.works - 1, 1, 1)
    assert bad.partial == ""
    (alarm,) = [one for one in recorded.checked("bad").blocks if one.verdict is BlockVerdict.DIFFERS]
    assert "+['a']" in alarm.diff
    # Again: it is only shown, no engine is started.
    assert main([*ordered, "--trial", "good", "--format", "json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["trial"] == "good"
    assert summary["works"]["works"] == good.works
    with SessionReader(recorded.session) as reader:
        assert len(reader.runs()) == 2
        assert unfinished(reader) == []
    assert recorded.row("good").at == good.at


def test_claims_alone_stand_beside_a_check_with_blocks(recorded: Recorded) -> None:
    recorded.hand_in("good", README)
    assert main(["check", "--session", str(recorded.session), "--no-run"]) == 0
    row = recorded.row("good")
    assert (row.executed, row.state, row.works) == (0, "done", 0)
    assert {one.reason for one in recorded.checked("good").blocks} == {"running blocks was not requested"}
    run = CheckOrder(recorded.session).submit().runs[0]
    with SessionReader(recorded.session) as reader:
        assert [row.executed for row in reader.checks("good")] == [0, 1]
        assert [row.run_id for row in reader.checks(run_id=run)] == [run]


@pytest.mark.slow
@pytest.mark.sandbox
def test_without_a_sandbox_names_are_looked_up_and_nothing_is_run(needs_bubblewrap, recorded, tmp_path):
    recorded.hand_in("bad", planted(["wrong default"])[0])
    forbidden = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    ordered = [sys.executable, "-m", "workbench", "check", "--session", str(recorded.session)]
    machine = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    told = subprocess.run(
        ["unshare", "-U", "-r", "sh", "-c", forbidden, "sh", *ordered],
        env=machine, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert told.returncode == 1
    assert "Names are still looked up." in told.stderr
    assert "the default of --columns is 80" in told.stdout
    row = recorded.row("bad")
    assert (row.executed, row.state, row.works, row.claims_untrue) == (0, "done", 0, 1)


@pytest.mark.slow
@pytest.mark.fresh_engines
def test_a_killed_engine_loses_nothing_and_the_rest_is_resumed(recorded: Recorded, until: Until) -> None:
    recorded.hand_in("a-good", README)
    recorded.hand_in("b-slow", SLOW)
    run = CheckOrder(recorded.session, seconds=3.0).submit().runs[0]
    launching.launch(recorded.session, run)

    def first_is_done() -> bool:
        return recorded.row("a-good").state == "done" and bool(recorded.row("b-slow").partial)

    until(first_is_done, 60, "the first README's end and the second's beginning")
    before = recorded.row("a-good")
    with SessionReader(recorded.session) as reader:
        lease = reader.holder(run)
    assert lease is not None
    os.kill(lease.pid, signal.SIGKILL)
    assert ended(recorded.session, run, until) == "interrupted"
    left = recorded.row("b-slow")
    assert left.state == "running"
    assert from_json(left.partial).waiting
    with SessionReader(recorded.session) as reader:
        assert [one.id for one in unfinished(reader)] == [run]
    assert running.resume(recorded.session) == [run]
    assert ended(recorded.session, run, until) == "done"
    assert recorded.row("a-good") == before
    row, checked = recorded.row("b-slow"), recorded.checked("b-slow")
    assert (row.state, row.partial, row.works, row.fails) == ("done", "", 1, 0)
    assert [one.verdict for one in checked.blocks] == [BlockVerdict.WORKS, BlockVerdict.NOT_RUN]
    assert row.claims_untrue == 1


def test_a_run_whose_checks_were_all_begun_again_is_no_longer_interrupted(recorded: Recorded) -> None:
    """An interrupted check that `V` begins anew is another run's, and the old one stayed interrupted for ever."""
    for trial in ("one", "two"):
        recorded.hand_in(trial, README)
    old = CheckOrder(recorded.session, execute=False).submit().runs[0]
    with SessionWriter(recorded.session) as writer:
        writer.set_run(old, state="running")  # and no engine holds it

    def state(run: str) -> str:
        with SessionReader(recorded.session) as reader:
            row = reader.run(run)
            assert row is not None
            return reader.run_state(row)

    assert state(old) == "interrupted"
    first = CheckOrder(recorded.session, ["one"], execute=False, anew=True).submit().runs[0]
    assert (recorded.row("one").run_id, state(old)) == (first, "interrupted"), "it still has the other README"
    second = CheckOrder(recorded.session, ["two"], execute=False, anew=True).submit().runs[0]
    assert (recorded.row("two").run_id, state(old)) == (second, "done")
    with SessionReader(recorded.session) as reader:
        assert old not in [run.id for run in unfinished(reader)]


def test_a_cancelled_check_keeps_what_a_former_one_said(recorded: Recorded, until: Until) -> None:
    recorded.hand_in("slow", SLOW)
    assert main(["check", "--session", str(recorded.session), "--seconds", "1"]) == 1
    former = recorded.row("slow")
    run = CheckOrder(recorded.session, ["slow"], seconds=1.0, anew=True).submit().runs[0]
    launching.launch(recorded.session, run)
    until(lambda: recorded.row("slow").partial, 60, "its beginning")
    running.cancel(recorded.session, run)
    assert ended(recorded.session, run, until) == "cancelled"
    now = recorded.row("slow")
    assert (now.state, now.partial, now.result_blob) == ("done", "", former.result_blob)
    assert now.works == former.works


@pytest.mark.slow
def test_one_block_once_more_leaves_the_others_as_they_were(recorded: Recorded, until: Until) -> None:
    recorded.hand_in("bad", planted(["wrong output"])[0])
    assert main(["check", "--session", str(recorded.session)]) == 1
    before = recorded.checked("bad")
    at = next(at for at, one in enumerate(before.blocks) if one.verdict is BlockVerdict.DIFFERS)
    run = CheckOrder(recorded.session, ["bad"], block=at).submit().runs[0]
    launching.launch(recorded.session, run)
    assert ended(recorded.session, run, until) == "done", error(recorded.session, run)
    after, row = recorded.checked("bad"), recorded.row("bad")
    assert row.rerun_block is None
    assert row.run_id == run
    assert after.claims == before.claims
    assert [one.verdict for one in after.blocks] == [one.verdict for one in before.blocks]
    assert [one for place, one in enumerate(after.blocks) if place != at] == [
        one for place, one in enumerate(before.blocks) if place != at
    ]


def test_each_readme_is_held_against_the_content_that_its_trial_saw(recorded, capsys):
    recorded.hand_in("a-lost", README, snapshot="0" * 64)
    recorded.hand_in("b-old", README)
    module = recorded.root / "wordstat" / "__init__.py"
    module.write_text(module.read_text().replace("top_words", "best_words"))
    recorded.hand_in("c-new", README, snapshot=snapshot_of(resolve_case(str(recorded.root))).digest)
    assert main(["check", "--session", str(recorded.session), "--no-run"]) == 1
    lost = recorded.row("a-lost")
    assert (lost.state, lost.result_blob) == ("failed", None)
    assert "has changed since the trial, and its former content is no longer available." in str(lost.problem)
    assert "has changed since" in capsys.readouterr().out
    # The repository as it was is kept: a name that has gone since is true there.
    assert (recorded.row("b-old").state, recorded.row("b-old").claims_untrue) == ("done", 0)
    assert recorded.row("c-new").claims_untrue


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--trial", "nowhere"], "has no trial 'nowhere'"),
        (["--trial", "none"], "submitted no README"),
        (["--format", "junit"], "text or json"),
        (["--fix-claims"], "--fix-claims"),
    ],
)
def test_wrong_orders_get_one_sentence(recorded, capsys, arguments, sentence):
    recorded.hand_in("none", None)
    assert main(["check", "--session", str(recorded.session), "--no-run", *arguments]) == 2
    assert sentence in capsys.readouterr().err
    with SessionReader(recorded.session) as reader:
        assert len(reader.runs()) == 1
