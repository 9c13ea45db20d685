"""A prompt that a person brings as a file: its text, its name, and what is wrong with others."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from workbench.base.errors import UsageError
from workbench.orders.regenerate import full_ask
from workbench.plans.plan import Ask, RegenerationPlan
from workbench.regeneration.prompts import build_prompt, read_prompt
from workbench.repository.functions import find_functions

SOURCE = b'def f(x):\n    """Give {name} back."""\n    return x\n'
(FUNCTION,) = find_functions(SOURCE, "a.py")


def test_places_are_filled_once_and_other_braces_stay(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text('{"body of": "{name}", "in": {path}}\n{before}')
    own = read_prompt(file)
    assert own.name == f"mine.txt@{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
    prompt = build_prompt(SOURCE, FUNCTION, FUNCTION.docstring, version=own.name, own=own.text)
    expected = '{"body of": "f", "in": a.py}\ndef f(x):\n    """Give {name} back."""'
    assert (prompt.prompt_version, prompt.messages[0].content) == (own.name, expected)


def test_a_file_must_say_where_the_code_goes(tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.write_text("Write the body of {name}.")
    with pytest.raises(UsageError, match=r"lacks the placeholder \{before\}"):
        read_prompt(file)
    with pytest.raises(UsageError):
        read_prompt(tmp_path / "nothing.txt")


def test_a_prompt_whose_file_is_gone_is_asked_again_in_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    gone = Ask("m", 1, prompt="mine.txt@0123", prompt_text="{before}")
    kept = full_ask(RegenerationPlan("x", evaluator="openai/gpt-4o", prompt=gone.prompt, asks=(gone,)))
    assert (kept.prompt, kept.prompt_text) == (gone.prompt, gone.prompt_text)
    with pytest.raises(UsageError, match="There is no prompt version and no file 'mine.txt'"):
        full_ask(RegenerationPlan("x", evaluator="openai/gpt-4o", prompt="mine.txt"))
