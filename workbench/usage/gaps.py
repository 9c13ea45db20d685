"""Find what a page lacks for a task: it does not name the callable, shows no example of it, or shows a wrong one."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from workbench.base import python_syntax
from workbench.base.text import one_line
from workbench.claims.comparing import doctest_difference, shell_difference
from workbench.claims.known import FILE_TOOLS
from workbench.claims.shell import simple_commands
from workbench.usage.literal import example_answer
from workbench.usage.page_reader import read_page
from workbench.usage.pages import (
    Named,
    PageCommand,
    UsagePage,
    commands_of_program,
    names_target,
    options_of_command,
    options_of_program,
    spellings,
    wanted_words,
    with_program,
    words_of_command,
)
from workbench.usage.probing import python_command
from workbench.usage.tasks import UsageTask

GapKind = Literal["unnamed", "no example", "wrong example", "stumbled"]

_MOST_CHECKS = 6
_CHARACTERS = 280  # maximum characters of a result; the results of all checks together stay below the limit of a value


@dataclass(frozen=True, slots=True)
class ExampleCheck:
    """An example of a page that can be executed.

    ``answer_text`` makes the call as the page shows it, whatever its inputs are. ``says`` is the result according to
    the page; if the page states no result (None), the example only has to be accepted.
    """

    answer_text: str
    call: str
    says: str | None
    line: int
    options: tuple[str, ...] = ()  # of a command


@dataclass(frozen=True, slots=True)
class WrongExample:
    """An example whose result differs from what the page says, or that the program refuses."""

    check: ExampleCheck
    gives: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The reason why a page did not lead to a right answer; ``line`` is 0 if the page never names the callable."""

    kind: GapKind
    line: int = 0
    section: str = ""
    call: str = ""
    says: str = ""
    gives: str = ""

    @property
    def words(self) -> str:
        match self.kind:
            case "unnamed":
                return "not named"
            case "no example":
                return "named without an example"
            case "wrong example" if self.says:
                return f"wrong example: {self.call} gives {one_line(self.gives, 80)}, not {one_line(self.says, 80)}"
            case "wrong example":
                return f"wrong example: {self.call} fails with {one_line(self.gives, 80)}"
            case _:
                return "named with an example, but used wrongly"

    def to_json(self) -> dict[str, object]:
        return asdict(self)


# -- examples that can be executed


def example_checks(page: str, task: UsageTask) -> list[ExampleCheck]:
    """Return the page's examples of a task's callable that can be executed, those with a stated result first."""
    found = read_page(page)
    if task.target.kind == "command":
        checks = [one for command in _examples_of(found, task) for one in _command_check(command, task)]
    else:
        checks = [
            ExampleCheck(text, one_line(ast.unparse(example.expression), 200), example.says, example.line)
            for example in found.examples
            if not example.unbound
            and names_target(Named(example.path, example.line, called=True), task.target)
            and len(example.says or "") <= _CHARACTERS
            and (text := example_answer(example, task, {}))
        ]
    return sorted(checks, key=lambda one: one.says is None)[:_MOST_CHECKS]


def _examples_of(page: UsagePage, task: UsageTask) -> list[PageCommand]:
    same = spellings(options_of_program(page, task))
    wanted = wanted_words(task, same)
    own = commands_of_program(page, task.package, task.target.path)
    return [one for one in own if (words_of_command(one, same) & wanted if wanted else not options_of_command(one))]


_FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]\w{0,5}")
_PLACEHOLDER = re.compile(r"<\w[^<>]*>|\[[^\]]+\]|\.\.\.|…|\b[A-Z]{3,}\b(?!\.)")


def _command_check(command: PageCommand, task: UsageTask) -> list[ExampleCheck]:
    """Return the check of a command. Its output is compared only if the command does not read the reader's files."""
    text = with_program(command, task.package)
    parts = simple_commands(text or "") or []
    others = [words[0] for words in parts if not " ".join(words).startswith(task.package)]
    if text is None or _PLACEHOLDER.search(" ".join(command.words)) or not set(others) <= FILE_TOOLS:
        return []
    files = [word for words in parts for word in words if _FILE.fullmatch(word) and not word.startswith("-")]
    options = options_of_command(command)
    says = command.says if not files and len(command.says or "") <= _CHARACTERS else None
    if says is None and not options:
        return []
    return [ExampleCheck(text, one_line(command.text, 200), says, command.line, options)]


_PROBE = """\
import contextlib, io, re

EXAMPLES = {examples!r}


def plain(text):  # addresses and temporary folders are not literals either
    return re.sub(r"0x[0-9a-fA-F]+", "0x0", text).replace("/tmp", "/TMP").replace("pytest-of-", "")


def shown(text, inputs):
    scope = {{"__name__": "answer"}}
    exec(compile(text, "answer.py", "exec"), scope)
    value = scope["answer"](*inputs)
    return ("value", "" if value is None else repr(value)[:{characters}], str(value)[:{characters}] if type(value) is str else "")


def answer(*inputs):
    found = []
    for text in EXAMPLES:
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                found.append(shown(text, [None] * {count}))
        except BaseException as error:
            kinds = [one.__name__ for one in type(error).__mro__]
            found.append(("raised", f"{{kinds[0]}}: {{error}}"[:{characters}], " ".join(kinds[1:4])))
    lines = [plain(repr(one)) for one in found]
    while len(repr("\\n".join(lines))) > {most}:  # a longer text would be no literal
        lines.pop()
    return "\\n".join(lines)
"""

_COMMAND_PROBE = """\
import os, re, subprocess, tempfile

EXAMPLES = {examples!r}

for text, files in EXAMPLES:
    with tempfile.TemporaryDirectory() as folder:
        for name in files:
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write("one two\\nthree\\n")
        try:
            done = subprocess.run(["sh", "-c", text], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=3)
            out, err = (one.decode("utf-8", "replace")[:{characters}] for one in (done.stdout, done.stderr[-{characters}:]))
            out, err = (re.sub("0x[0-9a-fA-F]+", "0x0", one.replace(folder, ".")) for one in (out, err))
            print(repr((done.returncode, out, err)).replace("/tmp", "/TMP"))
        except subprocess.TimeoutExpired:
            print(repr((0, "", "")))
"""


def example_probe(checks: Sequence[ExampleCheck], task: UsageTask) -> str:
    """Return an answer that executes all examples, whatever its inputs are."""
    if task.target.kind != "command":
        return _PROBE.format(
            examples=[one.answer_text for one in checks],
            characters=_CHARACTERS // 2,
            count=len(task.parameters),
            most=1_900,
        )
    examples = [(one.answer_text, _files_of(one.answer_text)) for one in checks]
    return python_command(_COMMAND_PROBE.format(examples=examples, characters=_CHARACTERS))


def _files_of(text: str) -> list[str]:
    words = [word for words in simple_commands(text) or () for word in words[1:]]
    return [word for word in words if _FILE.fullmatch(word) and not word.startswith(("/", "-")) and ".." not in word]


def wrong_examples(checks: Sequence[ExampleCheck], value: str | None, task: UsageTask) -> list[WrongExample]:
    """Return the examples that the probe's value shows to be wrong."""
    try:
        result = python_syntax.literal(value or "")
        lines = str(result["stdout"] if isinstance(result, dict) else result).splitlines()
        rows = [python_syntax.literal(line) for line in lines]
    except (*python_syntax.UNREADABLE, TypeError, KeyError):
        return []
    judge = _wrong_command if task.target.kind == "command" else _wrong_call
    found = []
    for check, row in zip(checks, rows, strict=False):
        kinds = (int if task.target.kind == "command" else str, str, str)
        if isinstance(row, tuple) and tuple(map(type, row)) == kinds and (gives := judge(check, *row)) is not None:
            found.append(WrongExample(check, gives))
    return found


def _wrong_call(check: ExampleCheck, kind: str, shown: str, other: str) -> str | None:
    """Return the actual result of a wrong example, or None if the example may be right.

    ``other`` is a string as it is printed, or the bases of an exception.
    """
    if kind == "raised":
        stated = check.says is not None and shown.split(":")[0] in check.says
        # An example without a stated result may need a file or a name that the page does not define, so ignore such
        # errors.
        excused = check.says is None and {"OSError", "NameError"} & {shown.split(":")[0], *other.split()}
        return None if stated or excused else shown
    if check.says is None or len(shown) >= _CHARACTERS // 2:
        return None
    says = check.says.replace("/tmp", "/TMP")  # as in the probe
    fits = not doctest_difference(says, shown) or (other and not doctest_difference(says, other))
    return None if fits else shown


def _wrong_command(check: ExampleCheck, status: int, out: str, err: str) -> str | None:
    if status and any(re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", err) for one in check.options):
        lines = [line for line in err.strip().splitlines() if any(one in line for one in check.options)]
        return lines[-1].strip()
    if check.says is None or not shell_difference(check.says, out, err):
        return None
    return out.rstrip("\n") or err.strip()


def gap_of(page: str, task: UsageTask, wrong: Sequence[WrongExample] = ()) -> Gap:
    """Return the gap of a page for a task that its reader failed; ``wrong`` contains the page's wrong examples."""
    found = read_page(page)
    if wrong:
        first = wrong[0]
        section = found.section(first.check.line)
        return Gap("wrong example", first.check.line, section, first.check.call, first.check.says or "", first.gives)
    named = found.mentions(task)
    if not named:
        return Gap("unnamed")
    example = next((one for one in named if one.example), None)
    line = (example or named[0]).line
    return Gap("stumbled" if example else "no example", line, found.section(line))
