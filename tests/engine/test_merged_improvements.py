"""Orders to improve docstrings of several sessions as one: nothing that was tried is lost, and nothing is there twice."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

import regenerated

from workbench.engine.merging import merge
from workbench.plans.plan import ImprovementPlan, RegenerationPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import AttemptRow, ImprovementRow

RUN = regenerated.RUN
PLAN = ImprovementPlan(RegenerationPlan("word_counter", evaluator="openai/evaluator"), "openai/writer", held_out=3)


def ordered(path: Path, *, order: str, function: str = "add", state: str = "done") -> Path:
    """A session with a run that has one task, and an order for it of which nothing was tried yet."""
    recorder = regenerated.Recorder(path)
    recorder.run(docs_scope="repository")
    recorder.cells(recorder.task(function, 0, path="sums.py", docstring="Do it."), "✗✗✗")
    recorder.writer.add_improvement(order, PLAN.to_json())
    recorder.writer.set_improvement(order, run_id=RUN, state=state)
    recorder.close()
    return path


def copied(path: Path, name: str) -> Path:
    target = path.with_name(name)
    with SessionReader(path) as reader:
        reader.copy_to(target)
    return target


def task_of(path: Path) -> str:
    with SessionReader(path) as reader:
        return str(reader.query("SELECT id FROM tasks")[0][0])


def tried(path: Path, order: str, number: int, text: str, state: str = "refused", at: float = 1.0) -> None:
    """Record an attempt at the session's task, made in its run."""
    with SessionWriter(path) as writer, writer.transaction():
        blob = writer.blob(text)
        gate, reason = ("gain", "no sample more passed") if state == "refused" else (None, None)
        held_out = ("[0, 3]", "[3, 3]", "openai/second") if state == "accepted" else (None, None, "")
        row = AttemptRow(order, task_of(path), number, state, gate, reason, blob, RUN, "[0, 2]", *held_out, at)
        writer.put_attempt(row)


def found(path: Path) -> list[tuple[ImprovementRow, list[tuple[int, str, str]]]]:
    """Every order with its attempts as (number, state, docstring)."""
    with SessionReader(path) as reader:
        assert not reader.damage
        return [
            (
                order,
                [
                    (one.number, one.state, reader.text(one.docstring_blob))
                    for one in reader.docstring_attempts(order.id)
                ],
            )
            for order in reader.improvements()
        ]


def merged(path: Path, sources: Sequence[Path]) -> list[tuple[ImprovementRow, list[tuple[int, str, str]]]]:
    merge(sources, path)
    return found(path)


def test_two_orders_are_both_there_and_point_to_their_runs(tmp_path: Path) -> None:
    one = ordered(tmp_path / "one.session", order="first")
    two = ordered(tmp_path / "two.session", order="second", function="clamp")
    with sqlite3.connect(two) as database:
        database.execute("UPDATE runs SET created_at = created_at + 5")  # another run that has the same id
        database.execute("UPDATE improvements SET created_at = created_at + 5, active_run_id = run_id")
    database.close()
    tried(one, "first", 1, "Return the sum.", "accepted")
    tried(two, "second", 1, "Return it.")
    tried(two, "second", 2, "Return the number within bounds.", "accepted")
    (first, of_first), (second, of_second) = merged(tmp_path / "both.session", [one, two])
    assert (first.id, second.id) == ("first", "second")
    assert of_first == [(1, "accepted", "Return the sum.")]
    assert of_second == [(1, "refused", "Return it."), (2, "accepted", "Return the number within bounds.")]
    with SessionReader(tmp_path / "both.session") as reader:
        runs = {run.id: {task.qualified_name for task in reader.tasks(run.id)} for run in reader.runs()}
        (other,) = set(runs) - {RUN}
        assert (first.run_id, second.run_id, second.active_run_id) == (RUN, other, other)
        assert (runs[RUN], runs[other]) == ({"add"}, {"clamp"})
        assert {one.run_id for one in reader.docstring_attempts("second")} == {other}
        assert [order.id for order in reader.improvements(other)] == ["second"]
        kept = reader.docstring_attempts("second")[1]
        assert (kept.seen, kept.before, kept.after, kept.held_out_evaluator) == (
            "[0, 2]",
            "[0, 3]",
            "[3, 3]",
            "openai/second",
        )
        assert any(change.kind == "improvement" and change.item == "second" for change in reader.changes(0))


def test_what_is_under_way_is_cancelled_in_the_new_session_alone(tmp_path: Path) -> None:
    one = ordered(tmp_path / "one.session", order="first", state="running")
    two = ordered(tmp_path / "two.session", order="second", function="clamp", state="queued")
    assert {order.state for order, _ in merged(tmp_path / "both.session", [one, two])} == {"cancelled"}
    assert [order.state for path in (one, two) for order, _ in found(path)] == ["running", "queued"]


def test_an_order_that_went_on_in_a_copy_is_there_once_with_all_that_was_tried(tmp_path: Path) -> None:
    """The order of the copy was taken for known: what only the copy had tried was lost."""
    one = ordered(tmp_path / "one.session", order="first", state="running")
    tried(one, "first", 1, "Return it.")
    tried(one, "first", 2, "", "asking")
    copy = copied(one, "copy.session")
    tried(copy, "first", 2, "Return the number.", at=2.0)
    tried(copy, "first", 3, "Return the sum.", "accepted", at=3.0)
    with SessionWriter(copy) as writer:
        writer.set_improvement("first", state="done", finished_at=9.0)
    everything = [
        (1, "refused", "Return it."),
        (2, "refused", "Return the number."),
        (3, "accepted", "Return the sum."),
    ]
    for name, sources in (("there", [one, copy]), ("back", [copy, one])):
        ((order, attempts),) = merged(tmp_path / f"{name}.session", sources)
        assert (order.id, order.state, order.finished_at) == ("first", "done", 9.0)
        assert attempts == everything
    result = merge([tmp_path / "there.session", one, copy], tmp_path / "again.session")
    assert (result.rows["improvements"], result.equal["improvements"]) == (1, 2)
    assert (result.rows["docstring_attempts"], result.equal["docstring_attempts"]) == (3, 5)


def test_copies_that_went_on_by_themselves_keep_both_ends(tmp_path: Path) -> None:
    one = ordered(tmp_path / "one.session", order="first")
    tried(one, "first", 1, "Return it.")
    copy = copied(one, "copy.session")
    tried(one, "first", 2, "Return the number.")
    tried(copy, "first", 2, "Return the sum.", "accepted")
    both = merged(tmp_path / "both.session", [one, copy])
    assert sorted(attempts for _, attempts in both) == [
        [(1, "refused", "Return it."), (2, "accepted", "Return the sum.")],
        [(1, "refused", "Return it."), (2, "refused", "Return the number.")],
    ]
    assert {order.run_id for order, _ in both} == {RUN}
    assert "first" in {order.id for order, _ in both}
    # Both are known then, by what was tried and not by their ids.
    again = merged(tmp_path / "again.session", [tmp_path / "both.session", copy, one])
    assert again == both
