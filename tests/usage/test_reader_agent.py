"""Usage runs by a reader agent with a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedModel

from workbench.orders import launching
from workbench.orders.usage import UsageOrder
from workbench.plans.usage import UsagePlan
from workbench.session import SessionReader

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("needs_bubblewrap")]

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
    return tmp_path / "joiner"


def measure(session: Path, project: Path, until: Callable[..., object], **options: Any) -> str:
    plan = UsagePlan(source=str(project), **{"evaluator": f"agent:{MODEL}", "samples": 1, **options})
    order = UsageOrder(session, plan)
    order.write()
    launching.launch(session, order.runs[0])
    finished(session, until)
    return order.runs[0]


def finished(session: Path, until: Callable[..., object]) -> None:
    def is_over() -> bool:
        with SessionReader(session) as reader:
            return all(reader.run_state(run) in ("done", "failed", "cancelled") for run in reader.runs())

    until(is_over, 120, "the end of the run")


def test_it_reads_runs_and_answers(project: Path, scripted: ScriptedModel, until: Callable[..., object]) -> None:
    scripted.answer = scripted_agent(
        call("read_docs", page="README", from_line=1),
        call("run", code="from joiner import joined\njoined('a b', '+')"),
        call("run", command="ls; python -c 'import joiner; print(joiner.__doc__ or None)'"),
        call("respond", answer=GOOD),
    )
    session = project.parent / "use.session"
    run = measure(session, project, until)
    with SessionReader(session) as reader:
        print(reader.run(run))
        for one in reader.candidates(run):
            print(one)
        for trial in reader.query("select * from trials"):
            print(trial)
        for step in reader.query("select * from steps"):
            print(step)
    assert 0
