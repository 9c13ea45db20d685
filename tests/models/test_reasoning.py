"""Reasoning that a server leaves in the answer, in the marks of many models."""

from __future__ import annotations

import pytest

from workbench.agents.protocol import Action, UnusableAnswer, parse_action
from workbench.documenters.llm import extract_docstring
from workbench.improving.gates import read_docstring
from workbench.models.questions import read_answer
from workbench.models.reasoning import split_reasoning

GOOD, BAD = "```python\n    return x + 1\n```", "```python\n    return x - 1\n```"
T = f"First idea:\n{BAD}\nNo, that's wrong: it subtracts."
FINAL = "<|start|>assistant<|channel|>final<|message|>"
SHAPES = {
    "tags": f"<think>\n{T}\n</think>\n\n{GOOD}",
    "upper case": f"<THINK>{T}</Think>{GOOD}",
    "blanks": f"< think >{T}</ think >{GOOD}",
    "an attribute": f'<thinking budget="3">{T}</thinking>{GOOD}',
    "full width": f"<｜think｜>{T}<｜/think｜>{GOOD}",
    "entities": f"&lt;think&gt;{T}&lt;/think&gt;{GOOD}",
    "Magistral": f"[THINK]{T}[/THINK]{GOOD}",
    "Seed": f"<seed:think>\n{T}\n</seed:think>\n\n{GOOD}",
    "Kimi": f"◁think▷{T}◁/think▷{GOOD}",
    "LongCat": f"<longcat_think>{T}</longcat_think>{GOOD}",
    "open-thoughts": f"<|begin_of_thought|>\n{T}\n<|end_of_thought|>\n\n<|begin_of_solution|>\n{GOOD}\n<|end_of_solution|>",
    "Command A": f"<|START_THINKING|>{T}<|END_THINKING|><|START_RESPONSE|>{GOOD}<|END_RESPONSE|>",
    "Gemma": f"<|channel>thought\n{T}<channel|>{GOOD}",
    "Granite": f"Here is my thought process:\n{T}\nHere is my response:\n{GOOD}",
    "Marco": f"<Thought>{T}</Thought><Output>{GOOD}</Output>",
    "Harmony": f"<|channel|>analysis<|message|>{T}<|end|>{FINAL}{GOOD}<|return|>",
    "Harmony with a call": f"<|channel|>analysis<|message|>{T}<|end|><|start|>assistant<|channel|>commentary to=f "
    f"<|constrain|>json<|message|>{{}}<|call|>{FINAL}{GOOD}",
    "Harmony that the prompt began": f"{T}<|end|>{FINAL}{GOOD}",
    "Harmony without its tokens": f"analysisWe see. {T}assistantfinal{GOOD}",
    "a closing mark at a line's end": f"{T}</think>\n\n{GOOD}",
    "a closing mark before the fence": f"{T}</think>{GOOD}",
    "a closing mark in a draft": f"hm\n```python\nreturn 0\n</think>\n{GOOD}",
    "another closing mark": f"<thinking>{T}</think>{GOOD}",
    "nested": f"<think>{T}<think>inner</think>more</think>{GOOD}",
    "the mark named in it": f'<think>`<think>`, <think> and "</think>" {T}</think>{GOOD}',
    "several": f"<think>{T}</think>Sure.\n<think>{T}</think>\n{GOOD}",
    "after words": f"Sure!\n<reasoning>{T}</reasoning>\n{GOOD}",
    "an open fence in it": f"<think>\n```python\nreturn 0\n</think>\n{GOOD}",
    "quotes in it": f'<think>use """ quotes</think>{GOOD}',
    "after the answer": f"{GOOD}\n<think>wait, {T}",
    "an answer's tag": f"<think>{T}</think><answer>{GOOD}</answer>",
    "an answer's tag in place of the closing one": f"<think>{T}\n<answer>\n{GOOD}\n</answer>",
    "a turn's header": f"<|im_start|>assistant\n<think>{T}</think>{GOOD}",
    "empty": f"<think></think>{GOOD}",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_reasoning_is_split_off_in_every_dress(text: str) -> None:
    split = split_reasoning(text)
    assert split.finished
    assert GOOD in split.answer
    assert BAD not in split.answer
    assert "think" not in split.answer


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{T}",
        "[THINK]\nx = 1",
        f"<|channel|>analysis<|message|>{T}",
        "analysisWe need",
        f"<think>a</think>\n<think>{T}",
    ],
)
def test_reasoning_that_never_ends_is_no_answer(text: str) -> None:
    split = split_reasoning(text)
    assert not split.finished
    assert not split.answer


@pytest.mark.parametrize(
    "text",
    [
        "```python\nreturn text.split('</think>')[1]\n```",
        "    return text.split('</think>')[1]",
        'x = """\n</think>\n"""\nreturn x',
        '```python\nx = """\n<think>\n</think>\n"""\nreturn x\n```',
        "Here:\n```python\n# </think>\nreturn 1\n```\nIt splits at `</think>`.",
        "Here:\n```python\nreturn 1\n```\nIt splits at </think> and returns.",
        '{"code": "return \'</think>\'"}',
        '<json>{"name": "respond", "kwargs": {"readme": "# A\n</think>\nfoo", "metadata": {}}}</json>',
        '"""Split at </think>."""',
        '```python\nif s.startswith("<|channel|>final<|message|>"):\n    return 1\n```',
        "See [analysis](a.md) and\n[reasoning](b.md).",
        'Words.\n\n    t = "a</think> b"\n    return t\n\nDone.',
    ],
)
def test_a_mark_in_code_or_quotation_is_none(text: str) -> None:
    assert split_reasoning(text).answer == text


def test_every_reader_of_answers_leaves_reasoning_out() -> None:
    draft, call = (
        '<json>{"name": "read_file", "kwargs": {}}</json>',
        '<json>{"name": "list_directory", "kwargs": {}}</json>',
    )
    action = parse_action(f"{call}\nOr rather {draft}?\n</think>\n{call}")
    assert isinstance(action, Action)
    assert action.name == "list_directory"
    unended = parse_action(f"<think>I could {draft}")
    assert isinstance(unended, UnusableAnswer)
    assert "never ended" in unended.sentence
    shape = {"type": "object", "required": ["points"]}
    assert read_answer('[THINK]{"points": 1}?[/THINK]{"points": 2}', shape)[0] == {"points": 2}
    assert read_docstring('[THINK]"""Draft."""[/THINK]\n"""The text."""') == "The text."
    assert extract_docstring('"""Draft."""\n</think>\n"""The text."""')[0] == "The text."
    assert extract_docstring("◁think▷endless")[0] is None
