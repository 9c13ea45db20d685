"""The steps of a page: which parts of its blocks are run and in which order, and why the others are not.

A program is run if it is the project's own, if it is Python, or if it only reads and writes files. Other programs may
need a network, an account, a screen or a person.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from workbench.base import python_syntax
from workbench.checking.blocks import Kind, kind_of
from workbench.checking.environment import CheckEnvironment
from workbench.checking.packages import install_verdict
from workbench.claims import known
from workbench.claims.page import Code, Page, Span
from workbench.claims.project import ProjectIndex
from workbench.claims.python import python_of
from workbench.claims.shell import commands_of, is_install, simple_commands

#: Content for a file that the reader is expected to have, used if the page shows none.
_STAND_INS = {
    ".txt": "The quick brown fox jumps over the lazy dog.\nA second line of text.\n",
    ".md": "# Title\n\nSome text.\n",
    ".csv": "name,value\none,1\ntwo,2\n",
    ".json": '{"name": "one", "value": 1}\n',
}
_FILE = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.(?:py|toml|cfg|ini|ya?ml|json|txt|md|csv|sh|env))(?![\w/-])")
#: Prefixes of paths relative to the reader's working or home directory.
OF_A_READER = ("./", "../", "~/")
_OUTPUT_OPTIONS = re.compile(r"(?:-o|--out(?:put)?(?:-file)?|--output-\w+|--save|--to|>{1,2})$")


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step to run, or one that is not run.

    ``kind`` is ``shell``, ``python`` or ``doctest``, or ``settled`` if the verdict is known without running the step.
    ``reason`` says why it is not run. ``harmless`` means that no later step depends on it. ``files`` are written before
    the step; ``stand_ins`` replace the reader's own files. ``absent`` lists files that neither the repository nor the
    page has.
    """

    block: int
    kind: str
    code: str
    line: int
    expected: str | None = None
    reason: str = ""
    harmless: bool = False
    failed: bool = False
    stand_ins: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    absent: tuple[str, ...] = ()
    seconds: float | None = None


@dataclass(slots=True)
class PagePlan:
    """The kinds of a page's blocks, and its steps in order."""

    kinds: list[Kind]
    steps: list[PlannedStep]

    def without(self, leaves: Callable[[int, PlannedStep], bool], reason: str, *, harmless: bool = True) -> PagePlan:
        """Return the plan, with the steps that ``leaves`` selects marked as not run."""
        steps = list(self.steps)
        for at, step in enumerate(steps):
            if step.kind != "settled" and leaves(at, step):
                steps[at] = replace(step, kind="settled", reason=reason, harmless=harmless)
        return PagePlan(self.kinds, steps)

    def up_to(self, last: int) -> PagePlan:
        """Return the plan up to and including block ``last``."""
        return self.without(lambda _, step: step.block > last, "only earlier blocks were requested")

    def only(self, blocks: Collection[int]) -> PagePlan:
        return self.without(lambda _, step: step.block not in blocks, "only other blocks were requested")


def plan_of(page: Page, project: ProjectIndex, environment: CheckEnvironment | None, broken: str = "") -> PagePlan:
    """Plan a page. If there is no environment, ``broken`` says why the project cannot be installed."""
    commands = environment.commands if environment else frozenset(project.declared.scripts)
    planner = _Planner(page, project, environment, commands, broken)
    kinds = [kind_of(code, project.modules, commands) for code in page.codes]
    steps = [step for index, kind in enumerate(kinds) for step in planner.steps(index, page.codes[index], kind)]
    return PagePlan(kinds, steps)


class _Planner:
    def __init__(
        self, page: Page, project: ProjectIndex, environment: CheckEnvironment | None, commands: Set[str], broken: str
    ) -> None:
        self._page, self._project, self._environment, self._broken = page, project, environment, broken
        self._commands, self._oldest = commands, project.needed_python
        self._own = frozenset({*project.modules, canonicalize_name(project.declared.name), project.declared.name}) - {
            ""
        }
        self._named: dict[str, str] = {}  # files that the reader has to write
        self._clones = {
            PurePosixPath(url.rstrip("/")).name.removesuffix(".git")
            for url in re.findall(r"git clone\s+(?:-\S+\s+)*(\S+)", page.text)
        }

    def steps(self, index: int, code: Code, kind: Kind) -> Iterator[PlannedStep]:
        whole = PlannedStep(index, "settled", code.code, code.line)
        if code.skip:
            yield replace(whole, reason=f"skipped: {code.skip}")
        elif kind not in ("shell", "session", "install", "command", "python", "doctest"):
            if (name := self._file_named(code)) and kind == "configuration":
                self._named[name] = code.code
            what = "in another language" if kind == "other" else kind
            yield replace(whole, reason=f"it is {what}", harmless=True)
        elif self._broken:
            failing = kind == "install" and any(
                install_verdict(c.text, self._project, None)[0] == "own" for c in commands_of(code.code)
            )
            yield replace(whole, reason=self._broken if failing else "the project could not be installed")
        elif kind in ("python", "doctest"):
            yield self._python(whole, code, kind)
        else:
            for command in commands_of(code.code):
                step = replace(whole, code=command.text, line=code.line + command.line)
                yield self._shell(step, code, command.expected)

    def _file_named(self, code: Code) -> str:
        first = code.code.splitlines()[0] if code.code.strip() else ""
        for text in (code.info, first if first.lstrip().startswith(("#", "//")) else "", code.before[-160:]):
            if found := _FILE.findall(text):
                return str(found[-1])
        return ""

    def _python(self, step: PlannedStep, code: Code, kind: str) -> PlannedStep:
        if name := self._file_named(code):
            self._named.setdefault(name, code.code)
        reason = why_not_python(code.code) if kind == "python" else ""
        if reason:
            modules = self._project.modules
            fault = None if code.another_time else syntax_fault(code.code, modules, self._oldest, code.before)
            if fault is None:
                return replace(step, reason=reason)
            return replace(step, line=code.line + fault[0] - 1, reason=f"SyntaxError: {fault[1]}", failed=True)
        stand_ins, files = self._provided(re.findall(r"['\"]([\w./-]+\.\w+)['\"]", code.code))
        return replace(step, kind=kind, stand_ins=stand_ins, files=files)

    def _shell(self, step: PlannedStep, code: Code, expected: str | None) -> PlannedStep:
        text = step.code
        if reason := self._setup(text):
            return replace(step, reason=reason, harmless=True)
        if is_install(text):
            state, reason = install_verdict(text, self._project, self._environment)
            return replace(step, reason=reason, harmless=True, failed=state == "fails" and not code.another_time)
        programs = self._environment.programs if self._environment else frozenset()
        if why := why_not_shell(text, self._commands, self._own, programs):
            return replace(step, reason=why)
        named = self._read_by(text)
        stand_ins, files = self._provided(named)
        there = {*self._project.files, *self._project.folders, *(name for name, _ in files)}
        absent = tuple(name for name in named if name.removeprefix("./").rstrip("/") not in there)
        seconds = SECONDS if code.inline else None
        return replace(
            step, kind="shell", expected=expected, stand_ins=stand_ins, files=files, absent=absent, seconds=seconds
        )

    def _setup(self, text: str) -> str:
        parts = simple_commands(text) or [["?"]]
        reasons = []
        for words in parts:
            command = " ".join(words)
            ours = self._clones | {self._project.declared.name, self._project.root.name}
            if (
                words[0] == "cd"
                and len(words) == 2
                and words[1].rstrip("/") in ours
                and words[1].rstrip("/") not in self._project.folders
            ):
                reasons.append("the check already runs in the repository")
            elif len(parts) > 1 and is_install(command):
                reasons.append("the project is already installed")
            else:
                reasons.append(setup_reason(command))
        return reasons[0] if all(reasons) else ""

    @staticmethod
    def _read_by(text: str) -> list[str]:
        found = []
        for words in simple_commands(text) or ():
            for before, word in itertools.pairwise(words):
                shaped = known.FILE.fullmatch(word) or known.FOLDER.fullmatch(word) or word.startswith(OF_A_READER)
                if shaped and not _OUTPUT_OPTIONS.fullmatch(before):
                    found.append(word)
        return found

    def _provided(self, names: list[str]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        stand_ins: list[str] = []
        files: list[tuple[str, str]] = []
        for name in dict.fromkeys(names):
            if name in self._project.files or name.startswith(("/", "..")):
                continue
            if name in self._named:
                files.append((name, self._named[name]))
            elif "/" not in name and (known.is_readers_data(name) or known.is_placeholder(name)):
                content = _STAND_INS.get(PurePosixPath(name).suffix.lower())
                if content is not None:
                    stand_ins.append(name)
                    files.append((name, content))
        return tuple(stand_ins), tuple(files)


#: Maximum number of commands from running text: some start servers, and a page with hundreds of them is not a tutorial.
MOST = 20
SECONDS = 3.0
_INTERPRETER = re.compile(r"python[\d.]*|py")


def with_commands(page: Page, project: ProjectIndex) -> Page:
    """Return the page with project commands in running text added as blocks, unless a block already has them."""
    known = {command.text.strip() for code in page.codes for command in commands_of(code.code)}
    found: list[Code] = []
    for span in page.spans:
        text = " ".join(span.text.removeprefix("$ ").split())
        if text not in known and _is_command(text, project) and len(found) < MOST:
            known.add(text)
            found.append(_block(page, span, text))
    return replace(page, codes=[*page.codes, *found]) if found else page


def _is_command(text: str, project: ProjectIndex) -> bool:
    commands = simple_commands(text) if " " in text and len(text) < 200 else None
    if commands is None or len(commands) != 1:
        return False
    words = commands[0]
    if _INTERPRETER.fullmatch(words[0]):
        return len(words) > 2 and words[1] == "-m" and words[2].split(".")[0] in project.modules
    return words[0] in project.declared.scripts and len(words) > 1


def _block(page: Page, span: Span, text: str) -> Code:
    before = [code for code in page.codes if code.line <= span.line]
    section = before[-1].section if before else 0
    another_time = page.another_time_at(span.line)
    return Code(span.line, text, "", span.around, section=section, another_time=another_time, inline=True)


# -- why a step is not run

_MORE_TOOLS = ". basename declare dirname egrep file local readlink realpath stat tree"
_HARMLESS = known.FILE_TOOLS | frozenset(_MORE_TOOLS.split())
_PYTHON = re.compile(r"(?:python|python3|python3\.\d+|py)$")
_SETUP = re.compile(
    r"^(?:(?:python[\d.]*|py)\s+-m\s+(?:venv|virtualenv)\b|virtualenv\b|uv\s+venv\b|(?:source|\.)\s+\S*activate\b|deactivate\b|git\s+clone\b)"
)
_HOLE = re.compile(
    r"<[A-Za-z][^<>]*>|\[(?:[A-Z]|--?[a-z]|options?\b|args\b|command\b)[^\]]*\]|\.\.\.|…|(?<!\$)\{\{?[a-zA-Z_ ]+\}?\}|\b(?:YOUR|MY)[_-]|"
    r"\b[yY]our[_-]\w+|/?path/to/|\bxxx+\b"
)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*(?:\.\.\.)?")


def setup_reason(command: str) -> str:
    """Return why a command that sets up a workspace is not run, or "" for other commands."""
    return "the check has its own environment and copy of the repository" if _SETUP.match(command.strip()) else ""


def placeholder(command: str) -> str:
    """Return the placeholder in a command, or "" if there is none."""
    if found := _HOLE.search(command):
        return found[0]
    for words in simple_commands(command) or ():
        for word in words[1:]:
            if _CAPITALS.fullmatch(word):
                return word
            if re.search(r"\bexample\.(?:com|org|net)\b", word):
                return word
    return ""


def why_not_shell(
    command: str, own_commands: Set[str], own_names: Set[str], in_environment: Set[str] = frozenset()
) -> str:
    """Return why a command is not run, or "" if it can be.

    ``own_names`` are the project's modules and its normalised distribution name, for ``python -m``; ``in_environment``
    are other commands that the page has installed.
    """
    if re.search(r"\bHEAD\b|\borigin/", command):
        return "it needs the repository's history, but a check has only one revision"
    if hole := placeholder(command):
        return f"{hole} is a placeholder for something of the reader's"
    parts = simple_commands(command)
    if parts is None:
        return "it is not a complete command"
    for words in parts:
        if why := _why_not_words(words, own_commands, own_names, in_environment):
            return why
    return ""


def _why_not_words(words: list[str], own_commands: Set[str], own_names: Set[str], in_environment: Set[str]) -> str:
    program = words[0]
    if program in ("time", "env", "timeout") and len(words) > 1:
        rest = [word for word in words[1:] if "=" not in word and not word[:1].isdigit()]
        return _why_not_words(rest, own_commands, own_names, in_environment) if rest else ""
    if program == "sudo":
        return "it needs root"
    if (
        program in own_commands
        or program in in_environment
        or program in _HARMLESS
        or re.fullmatch(r"for|do|done|if|then|else|fi|while|in|\[|\]|\[\[|\{|\}", program)
    ):
        return ""
    if _PYTHON.fullmatch(program):
        if len(words) == 1 or words[1] == "-i":
            return "it waits for input"
        if words[1] == "-m" and len(words) > 2:
            module = words[2].split(".")[0]
            if module in own_names or module in ("json", "this", "timeit", "calendar", "base64"):
                return ""
            return f"{words[2]} is not the project's"
        return ""
    if is_install(" ".join(words)):
        return ""
    return f"{program} does not belong to the project and may need something that a check lacks"


_ASKS = {"input", "getpass", "breakpoint"}


def why_not_python(code: str) -> str:
    tree = python_of(code)
    if tree is None:
        return "it is not complete Python"
    if hole := _left_out(tree):
        return hole
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKS:
            return "it waits for input"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            text = node.value
            if _HOLE.search(text) and known.is_placeholder(text) and not re.search(r"\{\w+\}|\[[A-Z]", text):
                return f"{text[:40]!r} is a placeholder for something of the reader's"
    return ""


def _left_out(tree: ast.Module) -> str:
    """Return the reason if an ellipsis stands for omitted code (not in stubs and slices), otherwise ""."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.Constant) and child.value is Ellipsis):
                continue
            if isinstance(
                node, ast.Call | ast.keyword | ast.Assign | ast.List | ast.Dict | ast.Return | ast.Starred | ast.Set
            ):
                return "it leaves something out (…)"
    for statement in tree.body:
        if (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and statement.value.value is Ellipsis
        ):
            return "it leaves something out (…)"
    return ""


_OF_PYTHON_2 = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'|multiple exception types must be parenthesized"
)
_NAMES = r"[A-Za-z_]\w*(?:\s+as\s+\w+)?(?:\s*,\s*[A-Za-z_]\w*(?:\s+as\s+\w+)?)*"
#: An import without the word ``import``, or with a comma after it; other languages have further forms (``cimport``).
_IMPORT = re.compile(
    rf"\s*(?:>>> )?from\s+([A-Za-z_]\w*)(?:\.\w+)*\s+(?:(?!import\b){_NAMES}|import\s*,\s*{_NAMES})\s*(?:#.*)?"
)
_PAGE_OF_PYTHON_2 = re.compile(r"\bpython[ -]?2", re.I)


def syntax_fault(
    code: str, modules: Set[str], oldest: tuple[int, ...] | None, prose: str = ""
) -> tuple[int, str] | None:
    """Return the line (from 1) and description of a mistake in a snippet, or None if it parses or may be intended."""
    code = textwrap.dedent(code)
    error = _error_of(code)
    if error is None:
        return None
    lines, message = code.split("\n"), str(error.msg)
    number = min(max(error.lineno or 1, 1), len(lines))
    line = lines[number - 1]
    if _OF_PYTHON_2.search(message):
        known = oldest is not None and oldest >= (3,) and not _PAGE_OF_PYTHON_2.search(prose)
        wanted = ".".join(map(str, oldest or ()))
        return (
            (number, f"it is Python 2, but the project needs Python {wanted}: {message.partition('.')[0]}")
            if known
            else None
        )
    if (found := _IMPORT.fullmatch(line)) and found[1] in modules:
        return number, f"it is not an import: {line.strip()}"
    column = (error.offset or 1) - 1
    if (
        message.startswith("unmatched")
        and python_of(_with(lines, number, line[:column] + line[column + 1 :])) is not None
    ):
        return number, message
    mended = (python_of(_with(lines, number, line[:at] + ":" + line[at:])) for at in (column, len(line.rstrip())))
    if message == "expected ':'" and any(tree is not None and not _shows_a_signature(tree, number) for tree in mended):
        return number, f"a colon is missing: {line.strip()}"
    return None


def _shows_a_signature(tree: ast.Module, number: int) -> bool:
    """Return whether the definition on a line has only a docstring as its body, as in signatures printed by tools."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= number <= node.body[0].lineno
        and all(
            isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            for one in node.body
        )
        for node in ast.walk(tree)
    )


def _error_of(code: str) -> SyntaxError | None:
    try:
        python_syntax.parse(code)
    except python_syntax.UNREADABLE as error:
        return error if isinstance(error, SyntaxError) else None
    return None


def _with(lines: list[str], number: int, line: str) -> str:
    return "\n".join([*lines[: number - 1], line, *lines[number:]])
