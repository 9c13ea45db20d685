"""Texts of a reader agent: prompts, portions of the documentation, and the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from workbench.base.text import plural
from workbench.usage.statements import statement
from workbench.usage.tasks import UsageTask

PROMPT_VERSION = "agent-1"
READ, RUN = "read_docs", "run"
SECONDS, OUTPUT_CHARACTERS = 10, 4_000
"""Limits of a single run of code or of a command."""
_PORTION_LINES, _PORTION_CHARACTERS, _LEAST_PORTION = 250, 12_000, 1_500

EXAMPLE = '{"name": "run", "kwargs": {"command": "…"}}'
_SYSTEM = f"""\
You find out how an installed package or program is used, and then write code that uses it.

You can use these tools:
- read_docs(page, from_line=1): the documentation from a line on; a long page comes in portions.
- run(code) or run(command): the output of Python code, with the values of its expressions, or of a shell command. Each
  run has a new folder, no network, at most {SECONDS} s and {OUTPUT_CHARACTERS:,} characters of output.
And to hand in your work:
- respond(answer): your answer as text.

Every message of yours holds exactly one call, as JSON between tags:
<json>{EXAMPLE}</json>

The package is installed without its source code and without docstrings. Use it; do not write its work anew.
"""
_FUNCTION = """\
Your answer is a complete Python module that defines `answer({parameters})`, with its imports. It prints nothing.
"""
_COMMAND = "Your answer is one shell command.{inputs}\n"


def prompt_version(max_steps: int) -> str:
    """Return the prompt version of an agent's candidates, which includes the step limit."""
    return f"{PROMPT_VERSION}/{max_steps}"


def steps_of(prompt: str) -> int | None:
    """Return the step limit in an agent's prompt version, or None for the prompt version of another reader."""
    version, _, steps = prompt.partition("/")
    return int(steps) if version == PROMPT_VERSION and steps.isdecimal() else None


def first_messages(task: UsageTask, page: ReaderPage, max_steps: int) -> tuple[str, str]:
    """Return the system message and the first user message."""
    if task.target.kind == "command":
        holes = ", ".join(f'"${number}"' for number in range(1, len(task.parameters) + 1))
        form = _COMMAND.format(inputs=f" Its inputs are {holes}." if holes else "")
    else:
        form = _FUNCTION.format(parameters=", ".join(task.parameters))
    if folders := sorted({path.split("/")[0] for path in case_files(task)}):
        form += f"The tool run starts in a folder with {' and '.join(folders)}, which have the files of these cases, and their\n"
        form += "standard input as the file stdin.\n"
    steps = f"You have {plural(max_steps, 'step')}, including the one that hands in your answer."
    return _SYSTEM, f"{statement(task).strip()}\n\n{form}\n{page.introduction}\n{steps}\n"


def case_files(task: UsageTask) -> dict[str, str]:
    """Return the files and the standard input of the shown calls by path, each call in a folder of its own."""
    found = {}
    for number, call in enumerate(task.shown, 1):
        for path, text in [*call.files.items(), *([("stdin", call.stdin)] if call.stdin else [])]:
            if ".." not in PurePosixPath(path).parts and not path.startswith("/"):
                found[f"case_{number}/{path}"] = text
    return found


@dataclass(frozen=True, slots=True)
class ReaderPage:
    """The page of a reader, or "" for none; ``window_tokens`` is the model's context window if it is known."""

    text: str
    window_tokens: int | None = None

    @property
    def name(self) -> str:
        """A name that differs for every page, so that a recorded answer is never replayed for another page."""
        return f"page-{hashlib.sha256(self.text.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"

    @property
    def introduction(self) -> str:
        if not self.text.strip():
            return "There is no documentation."
        return f"The documentation is the page `{self.name}`, which has {plural(len(self.text.splitlines()), 'line')}."

    def portion(self, arguments: Mapping[str, object]) -> tuple[str, str]:
        """Return the lines that a call of ``read_docs`` requests, with a note on their position, and their numbers."""
        if not self.text.strip():
            return "There is no documentation.", ""
        lines = self.text.splitlines()
        first = _line_number(arguments)
        if not 1 <= first <= len(lines):
            return f"Error: the page has the lines 1 to {len(lines):,}.", f"line {first}"
        room = _PORTION_CHARACTERS
        if self.window_tokens is not None:
            room = max(_LEAST_PORTION, min(room, self.window_tokens))
        last, shown = first - 1, list[str]()
        while last < len(lines) and len(shown) < _PORTION_LINES and (not shown or len(lines[last]) <= room):
            cut = lines[last][:room]
            shown.append(cut if cut == lines[last] else f"{cut}… (the rest of this line is not shown)")
            room -= len(cut) + 1
            last += 1
        more = f" The next ones: read_docs with from_line {last + 1}." if last < len(lines) else ""
        note = f"(Lines {first:,} to {last:,} of {len(lines):,}.{more})"
        return "\n".join([*shown, note]), f"lines {first}-{last}"


def _line_number(arguments: Mapping[str, object]) -> int:
    """Return the first requested line: the value of ``from_line`` or, for models that use another name, any number."""
    for value in (arguments.get("from_line"), *arguments.values()):
        if isinstance(value, int | float | str) and str(value).strip().isdecimal():
            return int(str(value).strip())
    return 1


def code_or_command(arguments: Mapping[str, object]) -> tuple[str, str] | None:
    """Return the argument of a ``run`` call as ("code" or "command", text), or None if it has neither."""
    for kind in ("code", "command"):
        text = arguments.get(kind)
        if isinstance(text, str) and text.strip():
            return kind, text
    return None


def shortened_output(output: str) -> str:
    """Return the start and the end of an output that is too long, with a note between them."""
    output = output.rstrip("\n")
    if len(output) <= OUTPUT_CHARACTERS:
        return output or "(no output)"
    half = OUTPUT_CHARACTERS // 2
    left_out = len(output) - 2 * half
    return f"{output[:half]}\n… ({left_out:,} characters are not shown) …\n{output[-half:]}"


def as_block(answer: str, task: UsageTask) -> str:
    """Return a submitted answer as a code block, the form that models without tools use."""
    if "```" in answer:
        return answer
    language = "sh" if task.target.kind == "command" else "python"
    text = answer.strip("\n")
    return f"```{language}\n{text}\n```"
