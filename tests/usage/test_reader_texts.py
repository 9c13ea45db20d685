"""The texts of a reader agent: its page in portions, and its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from workbench.usage import reader_agent
from workbench.usage.reader_agent import ReaderPage
from workbench.usage.tasks import Call, CallTarget, UsageTask

LINES = [f"line {number}" for number in range(1, 601)]
LONG = ReaderPage("\n".join(LINES))
FUNCTION = UsageTask(
    "a", CallTarget("function", "pkg.slug", "pkg.py", 1), "pkg", ("a", "b"), (Call(("'x'", "1"), "'x1'"),), ()
)
COMMAND = replace(
    FUNCTION,
    target=CallTarget("command", "count FILE", "pkg.py", 1),
    parameters=("1",),
    shown=(
        Call(
            ("'a.txt'",), "{'exit': 0, 'stdout': '1'}", {"a.txt": "one", "more/b.txt": "two", "../../etc/passwd": "no"}
        ),
        Call(("'-'",), "{'exit': 0, 'stdout': '2'}", stdin="three\n"),
    ),
)


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({}, 1),
        ({"page": "README", "from_line": 251}, 251),
        ({"from_line": "301"}, 301),
        ({"page": "README", "line": 400}, 400),
        ({"from_line": 2.5}, 1),
        ({"from_line": None}, 1),
        ({"from_line": True}, 1),
        ({"page": 7}, 7),
    ],
)
def test_a_long_page_comes_in_portions(arguments: Mapping[str, object], first: int) -> None:
    text, where = LONG.portion(arguments)
    last = min(600, first + 249)
    assert text.splitlines()[:-1] == LINES[first - 1 : last]
    assert where == f"lines {first}-{last}"
    assert (f"from_line {last + 1}" in text) is (last < 600)


@pytest.mark.parametrize("line", [0, 601, 10**30])
def test_a_line_that_is_not_there_is_an_error(line: int) -> None:
    text, _ = LONG.portion({"from_line": line})
    assert text.startswith("Error")


@pytest.mark.parametrize("page", ["x" * 5_000_000, "x\n" * 2_500_000, "é" * 300_000 + "\n" + "y" * 300_000])
def test_every_portion_is_small_and_they_end(page: str) -> None:
    small = ReaderPage(page, 2_000)
    text, where = small.portion({})
    assert len(text) < 2_300
    assert where.startswith("lines 1-")
    assert len(small.portion({"from_line": 2})[0]) < 2_300


def test_pages_have_names_of_their_own_and_none_is_no_page() -> None:
    assert ReaderPage("a").name != ReaderPage("b").name
    for nothing in ("", " \n"):
        assert ReaderPage(nothing).introduction == "There is no documentation."
        assert ReaderPage(nothing).portion({"from_line": 7}) == ("There is no documentation.", "")


def test_messages_name_inputs_steps_and_files_but_nothing_of_the_project() -> None:
    _, first = reader_agent.first_messages(FUNCTION, LONG, 8)
    assert "answer(a, b)" in first
    assert "600 lines" in first
    assert "8 steps" in first
    assert "slug" not in first
    _, first = reader_agent.first_messages(COMMAND, LONG, 1)
    assert '"$1"' in first
    assert "case_1 and case_2" in first
    assert reader_agent.case_files(COMMAND) == {
        "case_1/a.txt": "one", "case_1/more/b.txt": "two", "case_2/stdin": "three\n",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "steps"), [("agent-1/8", 8), ("agent-1/", None), ("usage-1", None), ("agent-1/x", None), ("", None)]
)
def test_a_prompt_says_how_many_steps_an_agent_has(prompt: str, steps: int | None) -> None:
    assert reader_agent.steps_of(prompt) == steps
    assert steps is None or reader_agent.prompt_version(steps) == prompt
