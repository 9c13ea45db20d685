"""A tiny repository with tests, bodies for its functions with known verdicts, and a model that answers with them."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

Body = dict[str, object]

SOURCE = '''"""Small sums."""


def add(first: int, second: int) -> int:
    """Return the sum of two numbers."""
    return first + second


def clamp(value: int, low: int, high: int) -> int:
    """Return ``value``, but at least ``low`` and at most ``high``."""
    if value < low:
        return low
    return min(value, high)


def shout(text: str) -> str:
    """Return the text in capitals with an exclamation mark."""
    return text.upper() + "!"


def unused() -> int:
    """Nobody tests this."""
    return 42
'''

SUITE = """from sums import add, clamp, shout


def test_add():
    assert add(2, 3) == 5


def test_add_negative():
    assert add(2, -3) == -1


def test_clamp():
    assert [clamp(value, 1, 3) for value in (0, 2, 9)] == [1, 2, 3]


def test_shout():
    assert shout("hey") == "HEY!"
"""

TASKS = ("sums.py::add", "sums.py::clamp", "sums.py::shout")
GOOD = {
    "add": "return first + second",
    "clamp": "return max(low, min(value, high))",
    "shout": 'return f"{text.upper()}!"',
}
BAD = {"add": "return abs(first) + abs(second)", "clamp": "return value", "shout": "return text"}


def make_repository(folder: Path, source: str = SOURCE, suite: str | None = SUITE) -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "small-sums"\nversion = "1"\n')
    (folder / "sums.py").write_text(source)
    if suite is not None:
        (folder / "tests" / "test_sums.py").write_text(suite)
    return folder


def fenced(body: str) -> str:
    return f"```python\n    {body}\n```"


def asked_for(body: Body) -> str:
    """The function whose body the prompt asks for."""
    messages = body["messages"]
    assert isinstance(messages, list)
    found = re.search(r"body of `(\w+)` and nothing else", messages[-1]["content"])
    assert found, messages
    return found[1]


class Writer:
    """Answers the n-th request for a function with the n-th of its answers (the last one from then on).

    Args:
        answers: By function name.
        stop_at: Number of the request from which on answers are held back until ``go`` is set; 0 = never.
    """

    def __init__(self, answers: Mapping[str, Sequence[str]], stop_at: int = 0) -> None:
        self.answers = answers
        self.stop_at = stop_at
        self.go = threading.Event()
        self.reached = threading.Event()
        self.asked: Counter[str] = Counter()

    def __call__(self, body: Body) -> str:
        if self.stop_at and self.asked.total() + 1 >= self.stop_at:
            self.reached.set()
            self.go.wait(60)
        name = asked_for(body)
        mine = self.answers[name]
        answer = mine[min(self.asked[name], len(mine) - 1)]
        self.asked[name] += 1
        return answer


def samples_file(path: Path, bodies: dict[str, str]) -> str:
    """Write answers by function of ``sums.py``; return the evaluator that gives them."""
    lines = [
        json.dumps({"task_id": f"sums.py::{name}", "completion": f"    {body}\n"}) for name, body in bodies.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return f"samples:{path}"
