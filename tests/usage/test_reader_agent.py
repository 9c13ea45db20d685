"""Usage runs by a reader agent with a scripted model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedModel

from workbench.engine.usage_agent import PackageSandbox
from workbench.orders import launching
from workbench.orders.measured import MeasuredRates, measured_in
from workbench.orders.running import cancel, resume
from workbench.orders.usage import UsageOrder
from workbench.plans.usage import UsagePlan
from workbench.session import SessionReader
from workbench.session.rows import CandidateRow, StepRow

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("needs_bubblewrap")]

Until = Callable[..., object]
MODEL = "openai/scripted"
FILES = {
    "pyproject.toml": '[project]\nname = "joiner"\nversion = "1"\n',
    "joiner/__init__.py": '"""Joins words."""\n\n\ndef joined(text, mark="-"):\n    """Return the words with a mark."""\n'
    "    return mark.join(text.split())\n",
    "README.md": "# joiner\n\n```python\nfrom joiner import joined\njoined('a b', '+')  # 'a+b'\n```\n",
    "tests/test_joiner.py": "from joiner import joined\n\n\ndef test_joined():\n"
    + "".join(f"    assert joined({text!r}, {mark!r})\n" for text in ("a b", "c d e", "f g") for mark in ("-", "+")),
}
GOOD = "from joiner import joined\n\ndef answer(a, b):\n    return joined(a, b)\n"


def call(name: str, **kwargs: object) -> str:
    return f"Let me see.\n<json>{json.dumps({'name': name, 'kwargs': kwargs})}</json>"


RANDOM = "import random; from joiner import joined\nprint(random.random())\njoined('a b', '+')"
STEPS = (
    call("read_docs", page="README", from_line=1),
    call("run", code=RANDOM),
    call("run", command="echo $(ls) $(python -c 'import joiner; print(joiner.joined.__doc__ or None)'); exit 3"),
    call("respond", answer=GOOD),
)


def scripted_agent(*answers: str) -> Callable[[dict[str, Any]], str]:
    """Answer the n-th message of a conversation with the n-th answer, and any later one with the last."""

    def answer(body: dict[str, Any]) -> str:
        steps = sum(message["role"] == "assistant" for message in body["messages"])
        return answers[min(steps, len(answers) - 1)]

    return answer


@pytest.fixture
def project(tmp_path: Path, one_cache: None, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "1")
    for name, text in FILES.items():
        (tmp_path / "joiner" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "joiner" / name).write_text(text)
    scripted.answer = scripted_agent(*STEPS)
    return tmp_path / "joiner"


def ordered(session: Path, project: Path, **options: Any) -> str:
    plan = UsagePlan(source=str(project), **{"evaluator": f"agent:{MODEL}", "samples": 1, "controls": False, **options})
    order = UsageOrder(session, plan)
    order.write()
    launching.launch(session, order.runs[0])
    return order.runs[0]


def finished(session: Path, until: Until) -> str:
    """Wait for the end of all runs, and return the state of the last one."""

    def states() -> list[str] | None:
        with SessionReader(session) as reader:
            found = [reader.run_state(run) for run in reader.runs()]
            return None if {"queued", "running"}.intersection(found) else found

    return until(states, 120, "the end of the run")[-1]  # type: ignore[index]


def by_page(session: Path, run: str) -> dict[str, CandidateRow]:
    with SessionReader(session) as reader:
        return {row.context: row for row in reader.candidates(run) if not row.control}


def steps_of(session: Path, candidate: CandidateRow) -> Iterator[tuple[StepRow, str]]:
    with SessionReader(session) as reader:
        for step in reader.steps(candidate.id):
            yield step, reader.text(step.observation_blob)


def test_its_steps_are_a_trajectory_and_its_answer_gets_a_verdict(
    project: Path, scripted: ScriptedModel, until: Until
) -> None:
    session = project.parent / "use.session"
    run = ordered(session, project)
    assert finished(session, until) == "done"
    rows = by_page(session, run)
    assert {context: row.verdict for context, row in rows.items()} == {
        "README": "passed", "none": "passed", "source": "passed",
    }  # fmt: skip
    row = rows["README"]
    steps = list(steps_of(session, row))
    assert [(step.kind, step.action) for step, _ in steps] == [
        ("tool", "read_docs"), ("tool", "run"), ("tool", "run"), ("respond", "respond"),
    ]  # fmt: skip
    docs, code, command, _ = (text for _, text in steps)
    assert docs.startswith(FILES["README.md"].strip())
    assert code.splitlines()[1] == "'a+b'"
    assert command.splitlines() == ["None", "(Its exit status is 3.)"]
    assert [text for _, text in steps_of(session, rows["none"])][0] == "There is no documentation."
    with SessionReader(session) as reader:
        trial = reader.trajectory(row.id)
        assert trial is not None
        shown = (trial.run_id, trial.agent, trial.model, trial.case_id, trial.state, trial.steps)
        assert shown == (run, "reader", MODEL, str(project), "done", 4)
        assert (row.prompt_tokens, row.completion_tokens) == (trial.prompt_tokens, trial.completion_tokens)
        assert row.prompt_tokens == sum(step.prompt_tokens or 0 for step, _ in steps)
        assert reader.text(row.answer_blob) == f"```python\n{GOOD}```"
    more = UsageOrder(session, UsagePlan(source=str(project), evaluator=f"agent:{MODEL}", samples=3))
    assert more.estimate(measured_in([session])).requests == 2 * 3 * 4
    unknown = more.estimate(MeasuredRates())
    assert (unknown.requests, unknown.up_to) == (2 * 3 * 8, True)
    seen = str(scripted.seen[0].body["messages"])
    assert "joined" not in seen
    assert "answer(a, b)" in seen


BLOCK = f"So:\n```python\n{GOOD}```"
NO_ANSWER = "It submitted no answer within 3 steps."
#: Answers of a model that sees the README, nothing or the sources, and the verdict and its reason.
ODD = (
    {
        "README": ((STEPS[1],), "invalid", NO_ANSWER),
        "none": ((call("fly", to="moon"), "I cannot do this."), "invalid", NO_ANSWER),
        "source": ((STEPS[0], "<json>{", BLOCK), "passed", ""),
    },
    {
        "README": (("",), "invalid", "The answer is empty."),
        "none": (
            (call("respond", answer={"a": 1}), call("respond", answer="As I said.")),
            "invalid",
            "The code does not",
        ),
        "source": ((BLOCK, call("respond", answer="def answer(a, b):\n    return a")), "failed", "4 of 4 calls"),
    },
)


@pytest.mark.parametrize("odd", ODD, ids=["no answers", "strange answers"])
def test_odd_agents_get_a_verdict_with_a_reason(
    project: Path, scripted: ScriptedModel, until: Until, odd: dict[str, tuple[tuple[str, ...], str, str]]
) -> None:
    def answer(body: dict[str, Any]) -> str:
        first = str(body["messages"][1])
        page = "none" if "no documentation" in first else "README" if "has 6 lines" in first else "source"
        return scripted_agent(*odd[page][0])(body)

    scripted.answer = answer
    session = project.parent / "use.session"
    run = ordered(session, project, max_steps=3)
    assert finished(session, until) == "done"
    rows = by_page(session, run)
    assert {page: row.verdict for page, row in rows.items()} == {page: verdict for page, (_, verdict, _) in odd.items()}
    for page, row in rows.items():
        assert (row.verdict_reason or "").startswith(odd[page][2])
        assert len(list(steps_of(session, row))) <= 3


@pytest.mark.slow
def test_a_killed_agent_starts_again_with_its_recorded_answers_and_observations(
    project: Path, scripted: ScriptedModel, until: Until
) -> None:
    released = threading.Event()

    def answer(body: dict[str, Any]) -> str:
        if not released.is_set() and sum(message["role"] == "assistant" for message in body["messages"]) == 3:
            cancel(session, run)
            released.wait(60)
        return scripted_agent(*STEPS)(body)

    session = project.parent / "use.session"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launching, "launch", lambda *_: None)
        run = ordered(session, project)
    scripted.answer = answer
    resume(session, run)
    assert finished(session, until) == "cancelled"
    before = {row.id: [text for _, text in steps_of(session, row)] for row in by_page(session, run).values()}
    released.set()
    asked = len(scripted.seen)
    resume(session, run)
    assert finished(session, until) == "done"
    for row in by_page(session, run).values():
        assert row.verdict == "passed"
        observations = [text for _, text in steps_of(session, row)]
        # What ran has another output each time.
        assert observations[: len(before[row.id])] == before[row.id]
        assert len(observations) == 4
    assert max(map(len, before.values())) == 3
    answered = sum(len(texts) for texts in before.values())
    assert len(scripted.seen) - asked <= 12 - answered


@pytest.mark.slow
def test_a_replay_repeats_the_steps_without_model_and_sandbox(
    project: Path, scripted: ScriptedModel, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, again = project.parent / "use.session", project.parent / "again.session"
    run = ordered(session, project, max_steps=5)
    finished(session, until)
    asked = len(scripted.seen)
    monkeypatch.setattr(PackageSandbox, "output", None)
    replayed = ordered(again, project, evaluator=f"replay:{session}")
    assert finished(again, until) == "done"
    assert len(scripted.seen) == asked
    first, second = by_page(session, run), by_page(again, replayed)
    for context, row in second.items():
        assert row.verdict == "passed"
        assert [text for _, text in steps_of(again, row)] == [text for _, text in steps_of(session, first[context])]


def test_the_spend_limit_ends_agents_between_steps(project: Path, scripted: ScriptedModel, until: Until) -> None:
    session = project.parent / "use.session"
    run = ordered(session, project, evaluator="agent:gpt-4o", spend_limit=0.004)
    finished(session, until)
    rows = by_page(session, run)
    assert {row.verdict for row in rows.values()} <= {"error", "passed"}
    stopped = [row for row in rows.values() if row.verdict == "error"]
    assert stopped
    assert all("spend limit" in (row.verdict_reason or "") for row in stopped)
    with SessionReader(session) as reader:
        trial = reader.trajectory(stopped[0].id)
        assert trial is not None
        assert (trial.state, trial.error_kind) == ("failed", "budget")
        spent = reader.run(run).spend_usd  # type: ignore[union-attr]
    assert spent == pytest.approx(sum(row.cost_usd or 0.0 for row in rows.values()))
