"""The numbers of trials: each case goes on where its own trials end."""

from __future__ import annotations

from pathlib import Path

from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader


def test_the_first_trial_of_a_case_is_repeat_1_whatever_others_have(home: Path, tmp_path: Path) -> None:
    """One case with two trials made the first trial of every other case of the order its third."""
    session = tmp_path / "repeats.session"
    plan_document(session, DocumentPlan(("word_counter",), model="local", judge="offline", repeats=2))
    both = ("word_counter", "password_generator")
    run = plan_document(session, DocumentPlan(both, model="local", judge="offline", repeats=2, first_repeat=0))
    with SessionReader(session) as reader:
        found = {(row.case_id, row.repeat) for row in reader.trials(run)}
    assert found == {
        ("word_counter", 3),
        ("word_counter", 4),
        ("password_generator", 1),
        ("password_generator", 2),
    }
