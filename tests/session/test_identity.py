"""Identities of work items: what changes the meaning of a result is in them, and nothing else."""

from __future__ import annotations

from workbench.session import identity


def test_a_verdict_rests_on_the_sandbox_and_the_tests_in_any_order() -> None:
    one = identity.tested_by("bubblewrap", ["tests/test_a.py::test_1", "tests/test_a.py::test_2"])
    assert one == identity.tested_by("bubblewrap", ["tests/test_a.py::test_2", "tests/test_a.py::test_1"])
    assert one != identity.tested_by("process", ["tests/test_a.py::test_1", "tests/test_a.py::test_2"])
    assert one != identity.tested_by("bubblewrap", ["tests/test_a.py::test_1"])


def test_each_part_of_an_identity_matters() -> None:
    tasks = [("s", "a.py", "f", 1, "d", "t"), ("z", "a.py", "f", 1, "d", "t"), ("s", "b.py", "f", 1, "d", "t"), ("s", "a.py", "g", 1, "d", "t"),
             ("s", "a.py", "f", 2, "d", "t"), ("s", "a.py", "f", 1, "e", "t"), ("s", "a.py", "f", 1, "d", "u")]  # fmt: skip
    assert len({identity.task_id(*parts) for parts in tasks}) == len(tasks)
    trials = [
        ("a", "m", "c", 1, ""),
        ("b", "m", "c", 1, ""),
        ("a", "n", "c", 1, ""),
        ("a", "m", "d", 1, ""),
        ("a", "m", "c", 2, ""),
        ("a", "m", "c", 1, "x"),
    ]
    assert len({identity.trial_id(*parts) for parts in trials}) == len(trials)
    candidates = [("t", "e", "p", 0), ("u", "e", "p", 0), ("t", "f", "p", 0), ("t", "e", "q", 0), ("t", "e", "p", 1)]
    assert len({identity.candidate_id(*parts) for parts in candidates}) == len(candidates)
