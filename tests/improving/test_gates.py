"""What is a docstring among answers, which of them are honest, and when a gain counts; no model, no sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from thin_docs import GOOD, SOURCE

from workbench.claims.project import ProjectIndex
from workbench.improving.attempts import DocstringAttempt, Gain, Refusal, Refused, Share
from workbench.improving.changes import FileChange, commit_message, patch_of
from workbench.improving.gates import check_docstring, read_docstring
from workbench.repository.functions import Function, find_functions
from workbench.session.rows import TaskRow, columns


def function(source: bytes, name: str = "add") -> Function:
    return next(one for one in find_functions(source, "sums.py") if one.name == name)


@pytest.fixture
def project(tmp_path: Path) -> ProjectIndex:
    (tmp_path / "sums.py").write_text(SOURCE)
    return ProjectIndex(tmp_path)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('"""Sum."""', "Sum."),
        ("```\n'''Sum.'''\n```", "Sum."),
        (
            '<think>Let me see: """no""".</think>\n\n~~~python\n    """Sum.\n\n    Of two.\n    """\n~~~',
            "Sum.\n\nOf two.",
        ),
        ('r"""A \\d."""', "A \\d."),
        ('"""Sum.\n\n```python\nadd(1, 2)\n```\n"""', "Sum.\n\n```python\nadd(1, 2)\n```"),
    ],
)
def test_a_literal_with_or_without_a_fence_is_a_docstring(answer: str, text: str) -> None:
    assert read_docstring(answer) == text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('Here:\n"""Sum."""', "there is text around"),
        ('"""Sum."""\nI hope it helps.', "there is text around"),
        ('def add():\n    """Sum."""', "it is code"),
        ('"""Sum', "closing quotes are missing"),
        ('f"""{1}"""', "not a docstring"),
        ('b"Sum"', "not a docstring"),
        ("add", "not a docstring"),
        ('"""  """', "is empty"),
        ('"""Sum\u202e."""', "invisible"),
        ("(" * 30_000, "not a docstring"),
        ("x" * 40_001, "40,001 characters"),
    ],
)
def test_anything_else_is_none(answer: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        read_docstring(answer)
    assert said in refused.value.refusal.reason
    assert refused.value.refusal.gate == "answer"


def test_an_honest_docstring_is_laid_out_as_the_file_is_and_nothing_else_changes(project: ProjectIndex) -> None:
    source = SOURCE.replace("\n", "\r\n").encode()
    laid_out, changed = check_docstring(source, function(source), read_docstring(GOOD), project)
    assert laid_out.splitlines()[2:] == [
        "    Args:",
        "        first: A number.",
        "        second: Another one.",
        "    ",
    ]
    assert function(changed).docstring == laid_out
    assert changed.count(b"\n") == changed.count(b"\r\n") == source.count(b"\n") + 5
    patch = patch_of([FileChange("sums.py", source, changed)], "Docstring of add\n")
    assert b'-    """Do it."""\r\n' in patch
    assert b"Subject: [PATCH] Docstring of add" in patch


@pytest.mark.parametrize(
    ("text", "gate", "said"),
    [
        ("Sum. " * 300, "length", "1,499 characters, 1,200 are allowed"),
        ("Sum.\n\ntotal = first + second\nreturn total % 1000", "leakage", "contains the code"),
        ("Sum.\n\n:param third: No.", "claims", "add has no parameter third"),
        (
            "Sum.\n\nParameters\n----------\nfirst, secnd : int\n    Numbers.\n",
            "claims",
            "no parameter secnd; there is second",
        ),
        ("Sum of `first` and the `other` argument.", "claims", "add has no parameter other"),
        ("Sum, as `sums.minus()`.", "claims", "nothing here is called sums.minus"),
        ("Sum; raises OverflowedError.", "claims", "nothing here is called OverflowedError"),
    ],
)
def test_a_docstring_that_is_too_long_or_not_true_or_the_code_is_refused(project, text, gate, said):
    source = SOURCE.encode()
    with pytest.raises(Refused) as refused:
        check_docstring(source, function(source), text.strip(), project)
    assert refused.value.refusal.gate == gate
    assert said in refused.value.refusal.reason


@pytest.mark.parametrize(
    "text",
    [
        "Sum of `first` and `second`.\n\nReturns:\n    int: The sum.\n\nRaises:\n    TypeError: One is None.",
        "Sum, like `shout` of `str.upper` in `itertools.chain`; see `sums.shout()`.\n\n>>> add(1, 2)\n3",
        "Sum.\n\nNote:\n    modulus: is what others call it.\n\nParameters\n----------\nfirst : int\n    One.\n\nReturns\n-------\nint\n",
    ],
)
def test_what_is_true_is_not_refused(project: ProjectIndex, text: str) -> None:
    source = SOURCE.encode()
    check_docstring(source, function(source), text, project)


def test_a_gain_counts_where_it_is_more_than_chance() -> None:
    # Newcombe 1998, method 10: 56/70 and 48/80 differ by 0.2, of which he gives 0.0524 to 0.3339.
    interval = Gain(Share(48, 80), Share(56, 70)).interval
    assert interval == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert Gain(Share(0, 3), Share(3, 3)).problem == ""
    assert "may be chance" in Gain(Share(0, 3), Share(1, 3)).problem
    assert Gain(Share(1, 3), Share(1, 3)).problem == "of held-out samples 1 of 3 passed before, 1 of 3 now"
    few = Gain(Share(0, 2), Share(1, 2))
    assert (few.problem, few.interval_words) == ("", "no interval: fewer than 3 samples")
    assert Gain(Share(0, 0), Share(0, 0)).problem == "no held-out sample has a verdict"


def test_a_commit_says_among_how_many_its_gains_were_chosen() -> None:
    def attempt(name: str, number: int, gain: Gain | None, refusal: Refusal | None = None) -> DocstringAttempt:
        task = TaskRow(**dict.fromkeys(columns(TaskRow).split(", ")))  # type: ignore[arg-type]
        return DocstringAttempt(
            replace(task, id=name, snapshot="s", path="sums.py", qualified_name=name, occurrence=1),
            number,
            "Sum.",
            refusal,
            gain=gain,
        )

    better, worse = Gain(Share(0, 5), Share(4, 5)), Gain(Share(4, 5), Share(0, 5))
    chance = Refusal("held-out samples", "which may be chance")
    tried = [
        attempt("add", 1, better),
        attempt("sub", 1, worse, chance),
        attempt("mul", 1, None, Refusal("answer", "none")),
    ]
    message = " ".join(commit_message(tried, (1,), "a/model").split())
    assert "sums.py::add: pass@1 0.00 → 0.80" in message
    assert "Kept 1 of 3 docstrings tried, of 3 functions; 2 were tested on held-out samples." in message
    assert "The mean gain of all docstrings tested on them is +0.00" in message
