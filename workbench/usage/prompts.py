"""The prompt of a model that reads a page, and the answer in its text."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping

from workbench.claims.page import SHELL
from workbench.claims.python import Definition, assigned, python_of
from workbench.claims.shell import PROMPT, simple_commands
from workbench.models.types import Message
from workbench.regeneration.extraction import (
    ENDLESS_REASONING,
    Extraction,
    code_in_json,
    final_answer,
    interpretations,
)
from workbench.regeneration.fences import AnswerBlock, read_blocks
from workbench.regeneration.prompts import DEFAULT_RESERVE, Prompt, estimate_tokens
from workbench.usage.tasks import UsageTask

PROMPT_VERSION = "usage-1"
PAGE_TOKENS = 24_000
"""Maximum number of tokens of a page in a prompt; a small context window may reduce it."""

_NOTE_TOKENS = 30

_SYSTEM = """\
You write code that uses an installed package or program. You cannot run anything and cannot see its source code.
Answer with exactly one code block and nothing else.
"""
_WITH_PAGE = "This is its documentation:\n\n<documentation>\n{page}\n</documentation>\n"
_WITHOUT_PAGE = "You have no documentation.\n"
_FUNCTION = """\
Write a complete Python module that defines `answer({parameters})`, with its imports, in one Python code block. Use the
package; do not write its work anew, and do not print anything.
"""
_COMMAND = """\
Write one shell command in one `sh` code block.{inputs} Use the program; do not write its work anew.
"""


def build_usage_prompt(task: UsageTask, statement: str, page: str, *, window_tokens: int | None = None) -> Prompt:
    """Return the prompt for a task with a page, or "" for none; the end of a page that is too long is left out."""
    if task.target.kind == "command":
        holes = ", ".join(f'"${number}"' for number in range(1, len(task.parameters) + 1))
        form = _COMMAND.format(inputs=f" Its inputs are {holes}." if holes else "")
    else:
        form = _FUNCTION.format(parameters=", ".join(task.parameters))
    frame = estimate_tokens(_SYSTEM + _WITH_PAGE + statement + form)
    budget = PAGE_TOKENS
    if window_tokens is not None:
        budget = max(0, min(budget, window_tokens - DEFAULT_RESERVE - frame - _NOTE_TOKENS))
    shown, omitted = cut_page(page, budget)
    documentation = _WITH_PAGE.format(page=shown) if page.strip() else _WITHOUT_PAGE
    text = f"{statement.strip()}\n\n{documentation}\n{form}"
    tokens = estimate_tokens(_SYSTEM + text)
    overflow = max(0, tokens + DEFAULT_RESERVE - window_tokens) if window_tokens is not None else 0
    messages = (Message("system", _SYSTEM), Message("user", text))
    return Prompt(messages, "", PROMPT_VERSION, tokens, overflow, omitted)


def cut_page(page: str, tokens: int) -> tuple[str, int]:
    """Return the first lines of a page that fit into a number of tokens, with a note, and the number of other lines."""
    lines = page.strip("\n").split("\n")
    kept, room = 0, 3 * tokens  # bytes, see `estimate_tokens`
    while kept < len(lines) and (room := room - len(lines[kept].encode("utf-8", "replace")) - 1) >= 0:
        kept += 1
    omitted = len(lines) - kept
    note = [f"(The page is longer: {omitted:,} more lines are not shown.)"] if omitted else []
    return "\n".join([*lines[:kept], *note]), omitted


def page_of_sources(sources: Mapping[str, str], tokens: int = PAGE_TOKENS) -> str:
    """Return the sources of modules, by module name, as a page; modules that do not fit are left out."""
    parts: list[str] = []
    room = tokens
    for module, source in sources.items():
        longest = max((len(run) for run in re.findall(r"`{3,}", source)), default=2)
        fence = "`" * (longest + 1)
        part = f"Module `{module}`:\n\n{fence}python\n{source.rstrip()}\n{fence}\n"
        room -= estimate_tokens(part)
        if room < 0 and parts:
            parts.append(f"{len(sources) - len(parts):,} more modules are not shown.\n")
            break
        parts.append(part)
    return "\n".join(parts)


# -- answers


def extract_answer(answer: str, task: UsageTask) -> Extraction:
    """Return the Python module or shell command in a model's answer; never raises."""
    notes: list[str] = []
    text = final_answer(answer, notes)
    if text is None:
        return Extraction(None, tuple(notes), ENDLESS_REASONING)
    if not text.strip():
        return Extraction(None, tuple(notes), "the answer is empty")
    try:
        blocks = read_blocks(text)
        if task.target.kind == "command":
            return _command(blocks, task, notes)
        return _module(blocks, text, notes)
    except (RecursionError, MemoryError):
        return Extraction(None, tuple(notes), "the answer's code is nested too deeply to be read")


def _module(blocks: list[AnswerBlock], text: str, notes: list[str]) -> Extraction:
    """Return the last block that defines ``answer``: fenced as Python, in any other block, or in JSON."""
    ordered = [*_by_worth(blocks, lambda block: block.may_be_python)]
    if sum(block.fenced and block.certain for block in blocks) > 1:
        notes.append("the answer has several code blocks")
    for block in ordered:
        for code, note in _readings(block):
            if _defines_answer(code):
                if not block.fenced:
                    notes.append("the code was not in a code block")
                if block.fenced and not block.closed:
                    notes.append("the code block was not closed")
                return Extraction(code, (*notes, *([note] if note else [])))
    for part in (*(block.text for block in blocks), text):
        for string, _ in code_in_json(part, anywhere=True):
            for block in reversed(read_blocks(string)):
                if _defines_answer(block.text):
                    return Extraction(block.text, (*notes, "the code was in JSON"))
    fenced = next((block for block in ordered if block.fenced and block.may_be_python), None)
    shown = fenced or next((block for block in ordered if re.search(r"\bdef answer\b", block.text)), None)
    if shown is None:
        return Extraction(None, tuple(notes), "the answer has no Python code")
    code = textwrap.dedent(shown.text).strip("\n") + "\n"
    if python_of(code) is None:
        return Extraction(code, tuple(notes), "the code does not parse")
    return Extraction(code, tuple(notes), "the code does not define `answer`")


def _by_worth(blocks: list[AnswerBlock], suits: Callable[[AnswerBlock], bool]) -> Iterator[AnswerBlock]:
    """Yield blocks from the last to the first: first those in the right language, then the others."""
    for certain in (True, False):
        for right in (True, False):
            yield from (one for one in reversed(blocks) if one.certain is certain and suits(one) is right)


def _readings(block: AnswerBlock) -> Iterator[tuple[str, str]]:
    """Yield a block as Python, then with typical mistakes of models undone, each with a note."""
    text = textwrap.dedent(block.text).strip("\n") + "\n"
    yield text, ""
    for one in interpretations(text):
        yield textwrap.dedent(one.text).strip("\n") + "\n", one.note
    if not block.fenced:
        lines = text.splitlines()
        starts = (
            n for n, line in enumerate(lines) if re.match(r"(?:import|from|def|async|class|try)\b|@|answer\s*=", line)
        )
        first = next(starts, len(lines))
        for last in range(len(lines), max(first, len(lines) - 60), -1):
            code = "\n".join(lines[first:last]) + "\n"
            if python_of(code) is not None:
                yield code, "text around the code was left out"
                break


def _defines_answer(code: str) -> bool:
    """Return whether a text is Python that binds ``answer`` at its top level, perhaps in a branch."""
    tree = python_of(code)
    return tree is not None and any(_binds(one) for one in tree.body)


def _binds(statement: ast.stmt) -> bool:
    if isinstance(statement, Definition):
        return statement.name == "answer"
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return any((one.asname or one.name) == "answer" for one in statement.names)
    if isinstance(statement, ast.If | ast.Try | ast.With):
        return any(_binds(one) for one in ast.walk(statement) if isinstance(one, ast.stmt) and one is not statement)
    return isinstance(statement, ast.Assign | ast.AnnAssign) and "answer" in assigned(statement)


_COMMENT = re.compile(r"^\s*#.*$")


def _command(blocks: list[AnswerBlock], task: UsageTask, notes: list[str]) -> Extraction:
    """Return the last block that starts the program, or the last shell block."""
    suiting = [block for block in reversed(blocks) if block.language in SHELL | {"", "code", "text"}]
    suiting.sort(key=lambda block: not block.certain)
    if sum(block.fenced and block.certain for block in blocks) > 1:
        notes.append("the answer has several code blocks")
    found = [(block, text) for block in suiting if (text := _as_command(block))]
    starting = [(block, text) for block, text in found if _starts(text, block, task)]
    named = [(block, text) for block, text in found if block.fenced and block.language in SHELL]
    for block, text in (*starting, *named):
        if not block.fenced:
            notes.append("the command was not in a code block")
        return Extraction(text, tuple(notes))
    if found and found[0][0].fenced:
        return Extraction(found[0][1], tuple(notes), f"the command does not start `{task.package}`")
    return Extraction(None, tuple(notes), "the answer has no shell command")


def _as_command(block: AnswerBlock) -> str:
    """Return a block's commands, without prompts and comments, or the line of unfenced text that is a command."""
    lines = block.text.strip("\n").split("\n")
    if any(PROMPT.match(line) for line in lines):
        lines = [PROMPT.sub("", line) for line in lines if PROMPT.match(line)]
    lines = [line for line in lines if not _COMMENT.match(line)]
    text = "\n".join(lines).strip()
    if block.fenced:
        return text
    inline = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
    return inline[-1] if inline else text if "\n" not in text else ""


def _starts(text: str, block: AnswerBlock, task: UsageTask) -> bool:
    program = task.package.split()
    commands = simple_commands(text) or ()
    if any(words[at : at + len(program)] == program for words in commands for at in range(len(words))):
        return block.fenced or text.startswith(task.package)
    return block.fenced and program[-1] in text  # in a substitution or a loop
