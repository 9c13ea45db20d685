"""A repository whose docstrings say too little, and models that write by rule."""

from __future__ import annotations

from pathlib import Path

from engine.tiny_repository import Body, asked_for, fenced

SOURCE = '''"""Small sums."""


def add(first: int, second: int) -> int:
    """Do it."""
    total = first + second
    return total % 1000


def shout(text: str) -> str:
    """Return the text in capitals with an exclamation mark."""
    return text.upper() + "!"


def unused() -> int:
    """Nobody tests this."""
    return 42
'''
SUITE = """from sums import add, shout


def test_add():
    assert add(2, 3) == 5


def test_add_large():
    assert add(999, 2) == 1


def test_shout():
    assert shout("hey") == "HEY!"
"""
GOOD = '''"""Return the sum of both numbers, as far as it exceeds whole thousands.

Args:
    first: A number.
    second: Another one.
"""'''
#: What stands in a docstring from which the evaluator gets it right.
CUE = "exceeds whole thousands"
MODEL, WRITER = "openai/bodies", "openai/docstrings"


class Models:
    """An evaluator that knows the rule only where the docstring states it, and a writer with an answer for each refusal that it is told of.

    Where the docstring is by luck, it is right twice and then no more.

    Args:
        docstrings: The writer's answers in turn, the last one from then on.
    """

    def __init__(self, *docstrings: str) -> None:
        self.docstrings = docstrings
        self.asked: list[str] = []
        self.lucky = 0

    def __call__(self, body: Body) -> str:
        messages = body["messages"]
        assert isinstance(messages, list)
        prompt = str(messages[-1]["content"])
        if str(body["model"]).endswith("docstrings"):
            self.asked.append(prompt)
            return self.docstrings[min(prompt.count("was refused: "), len(self.docstrings) - 1)]
        if asked_for(body) == "shout":
            return fenced('return text.upper() + "!"')
        knows = CUE in prompt
        if knows and "By luck" in prompt:
            self.lucky += 1
            knows = self.lucky <= 2
        return fenced("return (first + second) % 1000" if knows else "return first + second")


def order(source: Path, *more: str) -> list[str]:
    models = ["--evaluator", MODEL, "--writer", WRITER]
    return ["improve", str(source), "--session", "demo", *models, "--samples", "2", "--held-out", "3", *more]
