"""The steps of a page: which parts of its blocks are run, in which order, and why others are not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from workbench.checking import needs
from workbench.checking.blocks import Kind, kind_of
from workbench.checking.environment import Environment
from workbench.checking.needs import syntax_fault
from workbench.checking.packages import install_verdict
from workbench.claims import known
from workbench.claims.page import Code, Page, Span
from workbench.claims.project import ProjectIndex
from workbench.claims.shell import commands_of, is_install, simple_commands

#: What a file that a reader would bring along holds where the page does not say it.
_STAND_INS = {
    ".txt": "The quick brown fox jumps over the lazy dog.\nA second line of text.\n",
    ".md": "# Title\n\nSome text.\n",
    ".csv": "name,value\none,1\ntwo,2\n",
    ".json": '{"name": "one", "value": 1}\n',
}
_FILE = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.(?:py|toml|cfg|ini|ya?ml|json|txt|md|csv|sh|env))(?![\w/-])")
#: How a path begins that is given from where a reader stands.
OF_A_READER = ("./", "../", "~/")
_OUTPUT_OPTIONS = re.compile(r"(?:-o|--out(?:put)?(?:-file)?|--output-\w+|--save|--to|>{1,2})$")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to run, or not.

    ``kind`` is ``shell``, ``python``, ``doctest``, or ``settled`` where the verdict is known without running. ``reason``
    says why it is not run. ``harmless`` means that nothing later can fail for want of it. ``files`` are written before it,
    ``stand_ins`` in place of the reader's own; ``absent`` are files that neither repository nor page has.
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
class Plan:
    """Kinds of a page's blocks, and its steps in order."""

    kinds: list[Kind]
    steps: list[Step]

    def without(self, leaves: Callable[[int, Step], bool], reason: str, *, harmless: bool = True) -> Plan:
        """The plan without some of the steps that would be run, by place and step."""
        steps = list(self.steps)
        for at, step in enumerate(steps):
            if step.kind != "settled" and leaves(at, step):
                steps[at] = replace(step, kind="settled", reason=reason, harmless=harmless)
        return Plan(self.kinds, steps)

    def up_to(self, last: int) -> Plan:
        """The plan up to block ``last``, with everything before it."""
        return self.without(lambda _, step: step.block > last, "only an earlier block was to be run")

    def only(self, blocks: Collection[int]) -> Plan:
        return self.without(lambda _, step: step.block not in blocks, "only other blocks were to be run")


def plan_of(page: Page, project: ProjectIndex, environment: Environment | None, broken: str = "") -> Plan:
    """Plan a page. Without an environment the project does not install, for the reason ``broken``."""
    commands = environment.commands if environment else frozenset(project.declared.scripts)
    planner = _Planner(page, project, environment, commands, broken)
    kinds = [kind_of(code, project.modules, commands) for code in page.codes]
    steps = [step for index, kind in enumerate(kinds) for step in planner.steps(index, page.codes[index], kind)]
    return Plan(kinds, steps)


class _Planner:
    def __init__(
        self, page: Page, project: ProjectIndex, environment: Environment | None, commands: Set[str], broken: str
    ) -> None:
        self._page, self._project, self._environment, self._broken = page, project, environment, broken
        self._commands, self._oldest = commands, project.needed_python
        self._own = frozenset({*project.modules, canonicalize_name(project.declared.name), project.declared.name}) - {
            ""
        }
        self._named: dict[str, str] = {}  # files that the page tells its reader to write
        self._clones = {
            PurePosixPath(url.rstrip("/")).name.removesuffix(".git")
            for url in re.findall(r"git clone\s+(?:-\S+\s+)*(\S+)", page.text)
        }

    def steps(self, index: int, code: Code, kind: Kind) -> Iterator[Step]:
        whole = Step(index, "settled", code.code, code.line)
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

    def _python(self, step: Step, code: Code, kind: str) -> Step:
        if name := self._file_named(code):
            self._named.setdefault(name, code.code)
        reason = needs.why_not_python(code.code) if kind == "python" else ""
        if reason:
            modules = self._project.modules
            fault = None if code.another_time else syntax_fault(code.code, modules, self._oldest, code.before)
            if fault is None:
                return replace(step, reason=reason)
            return replace(step, line=code.line + fault[0] - 1, reason=f"SyntaxError: {fault[1]}", failed=True)
        stand_ins, files = self._provided(re.findall(r"['\"]([\w./-]+\.\w+)['\"]", code.code))
        return replace(step, kind=kind, stand_ins=stand_ins, files=files)

    def _shell(self, step: Step, code: Code, expected: str | None) -> Step:
        text = step.code
        if reason := self._setup(text):
            return replace(step, reason=reason, harmless=True)
        if is_install(text):
            state, reason = install_verdict(text, self._project, self._environment)
            return replace(step, reason=reason, harmless=True, failed=state == "fails" and not code.another_time)
        programs = self._environment.programs if self._environment else frozenset()
        if why := needs.why_not_shell(text, self._commands, self._own, programs):
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
                reasons.append("the check is in the repository already")
            elif len(parts) > 1 and is_install(command):
                reasons.append("the project is installed already")
            else:
                reasons.append(needs.setup_reason(command))
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


#: So many of a page are run, each for so many seconds: some start servers, and a page that mentions hundreds is no tutorial.
MOST = 20
SECONDS = 3.0
_INTERPRETER = re.compile(r"python[\d.]*|py")


def with_commands(page: Page, project: ProjectIndex) -> Page:
    """The page with the project's commands in running text as further blocks, each once, unless a block has it."""
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
