"""An order asks the evaluator that it names: what others failed at, or never came to, waits for a resume."""

from __future__ import annotations

from collections import Counter

import pytest
from engine.following import ended
from engine.regenerating import MODEL, start
from engine.tiny_repository import GOOD, TASKS, Writer, fenced
from loopback.server import Reply, failure

from workbench.orders import running
from workbench.session import SessionReader

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]
OTHER = "openai/other"


@pytest.mark.slow
def test_another_evaluators_order_leaves_failures_to_a_resume(session, repository, scripted, until):
    write = Writer({name: [fenced(body)] for name, body in GOOD.items()})
    failing = True

    def answer(body: dict[str, object]) -> str | Reply:
        return failure(500, "oops") if failing and body["model"] == MODEL.split("/")[1] else write(body)

    def asked() -> Counter[object]:
        return Counter(one.body["model"] for one in scripted.seen)

    scripted.answer = answer
    run = start(session, repository, samples=5, k=(1,))  # more than an engine has patience for
    ended(session, run, until)
    before = asked()["scripted"]
    assert start(session, repository, evaluator=OTHER, samples=1, k=(1,)) == run
    assert ended(session, run, until) == "done"
    with SessionReader(session) as reader:
        verdicts = Counter((row.evaluator, row.verdict) for row in reader.candidates(run) if not row.control)
    assert verdicts[OTHER, "passed"] == len(TASKS)
    assert (asked()["scripted"], asked()["other"]) == (before, len(TASKS))

    failing = False
    assert running.resume(session, run) == [run]
    assert ended(session, run, until) == "done"
    with SessionReader(session) as reader:
        verdicts = Counter((row.evaluator, row.verdict) for row in reader.candidates(run) if not row.control)
    assert verdicts == {(OTHER, "passed"): len(TASKS), (MODEL, "passed"): 5 * len(TASKS)}
    assert asked()["other"] == len(TASKS)
