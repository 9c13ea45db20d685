"""Judge the result of a command, by the rule described in :mod:`.judging`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from workbench.base.reasons import last_words
from workbench.base.text import clean, one_line
from workbench.checking.steps import PlannedStep
from workbench.checking.verdicts import BlockPart, BlockVerdict
from workbench.claims.comparing import of_one_kind, of_the_machine, shell_difference
from workbench.claims.project import ProjectIndex

#: Resources that a sandbox lacks, with the error messages of programs that need them.
_LACKS = (
    ("a network", r"name resolution|name or service not known|nodename nor servname|network is unreachable|max retries exceeded|"
     r"connection ?refused|connect(?:ion)?error|failed to (?:connect|resolve)|urlopen error|could not resolve|cannot connect|gaierror|"
     r"connect ?timeout|no route to host|proxyerror|httpx\.|unable to connect|temporary failure"),
    ("a key or an account", r"api[ _-]?key|access[ _-]?token|credential|unauthorized|authentication|\b40[13]\b|not logged in|login"),
    ("a GPU", r"\bcuda\b|\bgpu\b|nvidia|nvml"),
    ("a screen", r"\$?display\b|no display|tkinter|cannot open display|\bx11\b|wayland|qt\.qpa|xcb|not a tty|inappropriate ioctl|terminal"),
    ("root", r"permission denied|operation not permitted|must be root|permissionerror|read-only file system"),
    ("input", r"eof when reading|eoferror|aborted!|no input"),
    ("a server or a browser", r"docker|\bdaemon\b|browser|webdriver|playwright|redis|postgres|mysql|mongodb"),
    ("something that is not installed", r"is not installed|are not installed|not installed\)|pip install|(?:must|to) be installed|please install"),
    ("another version of Python", r"\b(?:requires?|needs?|only|supported)\b.{0,40}\bpython\s*(?:>=?\s*)?\d"),
    ("the source of its caller", r"underlying source code|source code not available|could not get source"),
    ("a sandbox of its own", r"\bnamespaces?\b|seccomp|landlock|bwrap|bubblewrap"),
    ("a time zone or locale", r"zoneinfo|locale\.error|unsupported locale"),
)  # fmt: skip
MEANT = re.compile(
    r"\b(?:raises?|raised|errors?|exceptions?|fails?|failed|failing|invalid|traceback|refuse[sd]?|reject(?:s|ed)?)\b|\w+Error\b",
    re.I,
)
#: An absolute path outside any project; output that contains one depends on the machine.
MACHINE = re.compile(r"(?<![\w./])(?:/(?:home|root|etc|usr|var|opt|Users|tmp|mnt|srv)\b|~[/\\]|[A-Z]:\\)")


@dataclass(frozen=True, slots=True)
class StepContext:
    """The context of a step, on which its verdict depends.

    ``around`` is the paragraph before the block, and its code. ``before`` is an earlier step that was not run or did
    not work. ``shown`` is the page's code other than shell commands. ``imported`` are the names that the page's code
    defines, ``elsewhere`` those that only other sections bind, and ``unbound`` those that failed code would have bound.
    """

    page: str
    project: ProjectIndex
    commands: Set[str]
    around: str
    before: str
    imported: Set[str]
    shown: str = ""
    elsewhere: Set[str] = frozenset()
    unbound: Set[str] = frozenset()


def part(
    verdict: BlockVerdict, line: int, reason: str = "", output: str = "", diff: tuple[str, ...] = (), code: str = ""
) -> BlockPart:
    return BlockPart(line, code, verdict, reason, output, diff)


def works(step: PlannedStep) -> BlockPart:
    return part(BlockVerdict.WORKS, step.line)


def not_run(step: PlannedStep, reason: str, line: int | None = None) -> BlockPart:
    return part(BlockVerdict.NOT_RUN, line or step.line, reason)


def lacking(text: str) -> str:
    """Return the resource that the sandbox lacks according to the end of a program's output, or "" if none."""
    for what, words in _LACKS:
        if re.search(words, text, re.I):
            return what
    return ""


def comments(around: str) -> str:
    """Return the prose and comments of a block and its paragraph."""
    prose, _, code = around.partition("\0")
    return f"{prose}\n" + "\n".join(re.findall(r"#.*$|\bexcept\b.*$|'''.*|\"\"\".*", code, re.M))


_USAGE = re.compile(
    r"unrecognized arguments|no such option|no such command|invalid choice|unknown (?:option|command|argument|flag|subcommand)|"
    r"unexpected (?:extra )?argument|invalid option|option --?\S+ not recognized|does not exist as a (?:sub)?command",
    re.I,
)
#: Error messages that mean that an earlier step is missing.
_MISSING_STEP = re.compile(
    r"\b(?:run|call|execute|initiali[sz]e|create|make|use)\b[^.\n]{1,80}\b(?:first|before)\b", re.I
)
_MISSING_FILE = re.compile(
    r"no such file|filenotfounderror|(?:does|do) not exist|doesn't exist|can(?:'t|not| not) (?:be )?(?:open|find|read|found)|"
    r"could(?:n't| not) (?:be )?(?:open|find|read|found)|unable to (?:open|find|read)|not found: |is missing|not a (?:file|directory)",
    re.I,
)
_LAST_ERROR = re.compile(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt))\b", re.M)
_NO_MODULE = re.compile(r"No module named '?([\w.]+)'?")


def command_verdict(step: PlannedStep, ended: Mapping[str, Any], context: StepContext) -> BlockPart:
    out, err, status = str(ended.get("stdout", "")), str(ended.get("stderr", "")), int(ended.get("status") or 0)
    if step.expected is not None:
        diff = shell_difference(step.expected, out, err)
        if not diff:
            return works(step)
    if status and step.expected is not None and MEANT.search(step.expected):
        # The page shows an error. If the same exception occurs, it is confirmed, whatever else the traceback contains.
        shown, real = _LAST_ERROR.findall(step.expected), _LAST_ERROR.findall(err)
        if shown and real and shown[-1] == real[-1]:
            return works(step)
        return not_run(
            step, f"it ended with an error, as the page says, but with a different message: {last_words(err, 120)}"
        )
    if status:
        return _failed_command(step, out, err, status, context)
    if step.expected is None:
        return works(step)
    if what := lacking(err):
        return not_run(step, f"it needs {what}: {last_words(err, 120)}")
    if MACHINE.search(step.expected):
        return not_run(step, "its output depends on files of this machine")
    if step.stand_ins:
        return not_run(step, f"its output depends on the reader's own {step.stand_ins[0]}")
    if not of_one_kind(step.expected, out):
        after = f", after {context.before}" if context.before else " altogether"
        return not_run(step, f"it prints something else{after}")
    if machine := of_the_machine(step.expected, out):
        return not_run(step, f"it depends on the machine, which is {machine} here")
    if not any(word in context.commands or word.startswith("python") for word in step.code.split()):
        return not_run(step, "its output depends on the reader's machine")
    if set(step.code.split()) & {"--version", "-V", "version"}:
        return not_run(step, "the version that it prints depends on its build and platform")
    return part(BlockVerdict.DIFFERS, step.line, "its output differs from the page", out[-1500:], diff)


def _failed_command(step: PlannedStep, out: str, err: str, status: int, context: StepContext) -> BlockPart:
    last_line = last_words(err, 200) or last_words(out, 200)
    output = clean(err or out).strip()[-1500:]
    fails = part(
        BlockVerdict.FAILS, step.line, f"exit status {status}" + (f": {last_line}" if last_line else ""), output
    )
    if status == 127 or "command not found" in err:
        return not_run(step, f"it ended with: {last_line}")
    if re.search(r"^\s*usage:", f"{err}\n{out}", re.I | re.M) and not _arguments(step.code):
        return not_run(step, f"it has no arguments and ended with status {status}: {last_line}")
    if status in (126, 130, 137, 143) or status < 0:
        return not_run(step, f"it was terminated with status {status}")
    modules = _NO_MODULE.findall(err)
    if modules and modules[-1].split(".")[0] not in context.project.modules:
        return not_run(step, f"it needs {modules[-1]}, which is not installed")
    if _USAGE.search(err) and _runs_own(step.code, context):
        return fails
    asked = not modules or (
        re.search(rf"(?<![\w.]){re.escape(modules[-1])}\b", step.code) is not None
        and context.project.lacks(*modules[-1].rpartition(".")[::2])
    )
    if asked and (modules or re.search(r"ImportError: cannot import name", err)):
        return fails if not context.before else not_run(step, f"it ended with {last_line}, after {context.before}")
    if what := lacking(err or out):
        return not_run(step, f"it needs {what}: {one_line(last_line, 120)}")
    if step.stand_ins:
        return not_run(step, f"it needs the reader's own {step.stand_ins[0]}")
    if _MISSING_FILE.search(err) or step.absent:
        return not_run(step, f"it needs something that neither the repository nor the page has: {last_line}")
    if made := _of_the_page(step.code, err, context):
        return not_run(step, f"it needs {made}, which the page tells its reader to create")
    if context.before:
        return not_run(step, f"it ended with status {status}, after {context.before}")
    if not _runs_own(step.code, context):
        return not_run(step, f"it ended with status {status}: {last_line}")
    if MEANT.search(comments(context.around)):
        return not_run(step, f"it ended with status {status}, which the page may intend")
    if not err.strip():
        return not_run(step, f"it ended with status {status} and no error, like a linter that has found something")
    if _MISSING_STEP.search(err):
        return fails
    return not_run(step, f"it ended with status {status}: {last_line}")


def _of_the_page(code: str, err: str, context: StepContext) -> str:
    """Return a word of a command that its error mentions and that occurs in other code on the page, or ""."""
    for word in code.split():
        named = re.search(rf"['\"`]{re.escape(word)}['\"`]", err) or (re.search(r"\w[-_:.]\w", word) and word in err)
        parts = [part for part in re.split(r"[:/=]", word) if len(part) > 3]
        if named and not word.startswith("-") and any(part in context.shown for part in parts):
            return word
    return ""


def _arguments(code: str) -> list[str]:
    words = code.split()
    return words[3:] if len(words) > 1 and words[1] == "-m" else words[1:]


def _runs_own(code: str, context: StepContext) -> bool:
    words = set(re.findall(r"[\w.-]+", code))
    return bool(words & set(context.commands)) or any(word.split(".")[0] in context.project.modules for word in words)
