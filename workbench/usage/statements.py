"""The statement of a usage task, which names nothing of the project except the package or program."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from workbench.sandbox.workbench_runner.values import decode
from workbench.usage.tasks import Call, UsageTask


def statement(task: UsageTask) -> str:
    return "\n".join(_of_command(task) if task.target.kind == "command" else _of_function(task)) + "\n"


def _of_function(task: UsageTask) -> Iterator[str]:
    yield f"The Python package `{task.package}` is installed."
    yield f"Write a function `answer({', '.join(task.parameters)})` that uses it, so that"
    yield ""
    for call in task.shown:
        yield f"    answer({', '.join(call.inputs)}) == {call.expected}"
    yield ""
    yield "It is tried on other inputs as well. A result counts if its type and its value are right."


def _of_command(task: UsageTask) -> Iterator[str]:
    inputs = ", ".join(f'"{name}"' for name in task.parameters)
    given = f" It gets its inputs as {inputs}." if inputs else ""
    yield f"The program `{task.package}` is installed."
    yield f"Write one shell command that uses it, for the cases below.{given}"
    yield "It runs in a folder that contains only the files of the case, and it is tried on other cases as well."
    for number, call in enumerate(task.shown, 1):
        yield ""
        yield f"Case {number}"
        yield from _of_case(task, call)


def _of_case(task: UsageTask, call: Call) -> Iterator[str]:
    for name, text in zip(task.parameters, call.inputs, strict=True):
        yield f"  {name} is {shlex.quote(decode(text))}"
    for path, text in call.files.items():
        yield from _block(f"The file {path} contains:", text)
    if call.stdin:
        yield from _block("Standard input is:", call.stdin)
    result = decode(call.expected)
    yield from _block("It prints:", result["stdout"]) if result["stdout"] else ("  It prints nothing.",)
    for path, content in result.get("files", {}).items():
        yield from (f"  It removes the file {path}.",) if content is None else _block(f"It writes {path}:", content)
    yield f"  Its exit status is {result['exit']}."


def _block(heading: str, text: str | bytes) -> Iterator[str]:
    """Yield a heading and an indented text; a missing line break at the end is marked, because it matters."""
    yield f"  {heading}"
    text = text if isinstance(text, str) else f"{text!r}\n"
    yield from (f"    {line}" for line in text.split("\n")[: -1 if text.endswith("\n") else None])
    if text and not text.endswith("\n"):
        yield "  (without a line break at the end)"
