"""What a verdict on a step depends on, and what a sandbox lacks: the same for snippets of Python and for commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from workbench.checking.steps import Step
from workbench.checking.verdicts import Verdict

#: What a sandbox does not have, by what programs say where they miss it.
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
#: An absolute path outside of a project: what is printed about it depends on the machine.
MACHINE = re.compile(r"(?<![\w./])(?:/(?:home|root|etc|usr|var|opt|Users|tmp|mnt|srv)\b|~[/\\]|[A-Z]:\\)")


@dataclass(frozen=True, slots=True)
class Context:
    """What a verdict depends on besides the step.

    Attributes:
        page: The page's path, which stands for its file in tracebacks.
        modules: The project's modules.
        commands: Its commands.
        environment: Folder of the environment inside, below which the project's installed code is.
        around: The paragraph before the block, and its code.
        before: An earlier step of the page that was not run or did not work, "" if there is none.
        imported: Names that the page's code defines or imports.
        shown: The page's code that is not for a shell.
        elsewhere: Names that only code of other sections of the page has bound so far.
        unbound: Names that code which was not run or did not work would have bound.
        occurs: Tells whether a word occurs in the project's code.
        lacks: Tells whether the sources of a module of the project plainly hold no such name or module below it.
        defines: Tells whether the project defines a function or class of that name.
        rejects: Tells whether the project's functions of a qualified name have no such parameter.
    """

    page: str
    modules: Set[str]
    commands: Set[str]
    environment: str
    around: str
    before: str
    imported: Set[str]
    shown: str = ""
    elsewhere: Set[str] = frozenset()
    unbound: Set[str] = frozenset()
    occurs: Callable[[str], bool] = lambda word: True
    lacks: Callable[[str, str], bool] = lambda module, name: True
    defines: Callable[[str], bool] = lambda name: True
    rejects: Callable[[str, str], bool] = lambda called, keyword: False


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """What became of a step, or of the part of it that ``code`` is; see :class:`.verdicts.BlockResult`."""

    verdict: Verdict
    line: int
    reason: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    code: str = ""


def works(step: Step) -> StepVerdict:
    """Return that a step works."""
    return StepVerdict(Verdict.WORKS, step.line)


def not_run(step: Step, reason: str, line: int | None = None) -> StepVerdict:
    """Return that a step, or what of it is at a line, was not run, and why."""
    return StepVerdict(Verdict.NOT_RUN, line or step.line, reason)


def lacking(text: str) -> str:
    """Return what a sandbox lacks by a program's last words, "" where they do not say so."""
    for what, words in _LACKS:
        if re.search(words, text, re.I):
            return what
    return ""


def comments(around: str) -> str:
    """Return what of a block and its paragraph is said to a reader: all but code that has no comment."""
    prose, _, code = around.partition("\0")
    return f"{prose}\n" + "\n".join(re.findall(r"#.*$|\bexcept\b.*$|'''.*|\"\"\".*", code, re.M))
