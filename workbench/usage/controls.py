"""Controls: readers without a page, whose results show whether a task is meaningful."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from workbench.base import python_syntax
from workbench.usage.probing import AnswerAttempt, text_of
from workbench.usage.tasks import UsageTask

MOST_NAMES = 400
"""Maximum number of public callables that ``package`` tries."""


def stub(task: UsageTask) -> str:
    """Return an answer that does nothing."""
    return "true" if task.target.kind == "command" else "def answer(*inputs):\n    return None\n"


def table(task: UsageTask) -> str:
    """Return an answer that looks up the shown calls in a table."""
    if task.target.kind == "command":
        return _command_table(task)
    entries = "".join(f"    {call.inputs!r}: {call.expected!r},\n" for call in task.shown)
    return (
        "from workbench_runner.values import decode, encode\n\n"
        f"SHOWN = {{\n{entries}}}\n\n\n"
        "def answer(*inputs):\n"
        "    found = SHOWN.get(tuple(encode(one) for one in inputs))\n"
        "    return None if found is None else decode(found)\n"
    )


def _command_table(task: UsageTask) -> str:
    cases = []
    for call in task.shown:
        result = python_syntax.literal(call.expected)
        if not isinstance(result, dict):
            continue
        tests = [f'[ "${number}" = {shlex.quote(text_of(text))} ]' for number, text in enumerate(call.inputs, 1)]
        tests += [
            f'[ "$(cat {shlex.quote(path)}; echo .)" = {shlex.quote(f"{text}.")} ]' for path, text in call.files.items()
        ]
        if call.stdin:
            tests.append(f'[ "$input" = {shlex.quote(f"{call.stdin}.")} ]')
        written = [
            f"printf %s {shlex.quote(text)} > {shlex.quote(path)}"
            for path, text in result.get("files", {}).items()
            if isinstance(text, str)
        ]
        output = f"printf %s {shlex.quote(str(result.get('stdout', '')))}"
        commands = "; ".join([*written, output, f"exit {result.get('exit', 0)}"])
        cases.append(f"if {' && '.join(tests) or 'true'}; then {commands}; fi")
    start = ['input="$(cat; echo .)"'] if any(call.stdin for call in task.shown) else []
    return "\n".join([*start, *cases]) + "\n"


def package(task: UsageTask, names: Iterable[tuple[str, str, int, int | None]]) -> list[AnswerAttempt]:
    """Return calls of every public callable with the inputs, which show how far guessing with the source's names gets.

    Each name is a module, the qualified name in it, and its minimum and maximum numbers of positional arguments,
    without ``self`` (None for any number). Classes come before their methods. A command has no attempts.
    """
    if task.target.kind == "command":
        return []
    given = list(names)[:MOST_NAMES]
    takes = {(module, name): (least, most) for module, name, least, most in given}
    found = [one for module, name, *_ in given for one in _calls(module, name, takes, task)]
    return list({one.answer_text: one for one in found}.values())


def _calls(
    module: str, name: str, takes: dict[tuple[str, str], tuple[int, int | None]], task: UsageTask
) -> Iterable[AnswerAttempt]:
    inputs = list(task.parameters)
    owner, _, method = name.rpartition(".")
    top = name.split(".")[0]
    why = f"The package has `{name}`."
    calls = [f"{name}({', '.join(way)})" for way in _orders(inputs) if _accepts(takes[module, name], len(inputs))]
    if owner:
        maker = takes.get((module, owner), (0, None))
        for split in range(len(inputs) + 1):
            if _accepts(maker, split) and _accepts(takes[module, name], len(inputs) - split):
                calls.append(f"{owner}({', '.join(inputs[:split])}).{method}({', '.join(inputs[split:])})")
    for call in calls:
        text = f"from {module} import {top}\n\n\ndef answer({', '.join(inputs)}):\n    return {call}\n"
        yield AnswerAttempt(text, 0, why, f"{module}.{name}")


def _orders(inputs: Sequence[str]) -> list[Sequence[str]]:
    return [inputs, inputs[::-1]] if len(inputs) == 2 else [inputs]


def _accepts(takes: tuple[int, int | None], count: int) -> bool:
    least, most = takes
    return least <= count and (most is None or count <= most)
