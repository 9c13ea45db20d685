"""From how a step ended to its verdict.

Only what is known to be the page's or the project's fault is called a failure: a name or parameter that the project does not have, an
option or command that it does not know, a step that it says is missing. Any other error may come of the sandbox (no network, no key,
no screen), of a version, of the reader's files or of a step that was not run: on projects that had shaped nothing one in eight of these was
the page's fault. It is *not run*, with the error as the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from workbench.checking.comparing import difference, doctest_difference, of_one_kind, of_the_machine, shell_difference
from workbench.checking.kinds import python_of
from workbench.checking.nearest import slip_of
from workbench.checking.steps import Step
from workbench.checking.verdicts import ALARMS, Verdict
from workbench.grounding import known
from workbench.reasons import last_words
from workbench.text import clean, one_line

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
_USAGE = re.compile(
    r"unrecognized arguments|no such option|no such command|invalid choice|unknown (?:option|command|argument|flag|subcommand)|"
    r"unexpected (?:extra )?argument|invalid option|option --?\S+ not recognized|does not exist as a (?:sub)?command",
    re.I,
)
#: How a program says that a step before it is missing.
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
_LOGS = re.compile(r"\blog(?:ger|ging)?\.\w+\(|get_?logger", re.I)
_MEANT = re.compile(
    r"\b(?:raises?|raised|errors?|exceptions?|fails?|failed|failing|invalid|traceback|refuse[sd]?|reject(?:s|ed)?)\b|\w+Error\b",
    re.I,
)
_DISPLAYED = re.compile(r"\b(?:object|returned|results?|output|prints?|shows?|looks? like)\b[^\n]*:\s*$", re.I)
#: An absolute path outside of a project: what is printed about it depends on the machine.
_MACHINE = re.compile(r"(?<![\w./])(?:/(?:home|root|etc|usr|var|opt|Users|tmp|mnt|srv)\b|~[/\\]|[A-Z]:\\)")
#: What a session names that is on the machine of its author: what it shows of that is so there.
_HOME = re.compile(r"(?<![\w./])(?:/(?:home|root|Users)/|~[/\\])|\b[A-Z]:\\{1,2}\w")
#: Where a module of the check's environment lies, which is nobody's business but the check's.
_INSTALLED = re.compile(r" ?\(?/\S*/site-packages/[^\s)]*\)?")


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


def judge(step: Step, ended: Mapping[str, Any], context: Context) -> StepVerdict:
    """Return the verdict on a step that was run: of a session's examples the first alarm's, else the first one not run.

    Args:
        step: The step.
        ended: What the runner said of it.
        context: What else counts.
    """
    found = judge_parts(step, ended, context)
    for wanted in (Verdict.FAILS, Verdict.DIFFERS, Verdict.NOT_RUN):
        for one in found:
            if one.verdict is wanted:
                return one
    return _works(step)


def judge_parts(step: Step, ended: Mapping[str, Any], context: Context) -> tuple[StepVerdict, ...]:
    """Return the verdicts on the parts of a step that was run: on each example of a Python session, else one on all of it.

    Args:
        step: The step.
        ended: What the runner said of it.
        context: What else counts.
    """
    if ended.get("timeout"):
        return (_not_run(step, "it had not ended when its time was up: it serves, waits, or takes longer"),)
    if ended.get("ended"):
        return (_not_run(step, f"the process of the page's snippets ended with status {ended.get('status')}"),)
    if step.kind != "shell" and ended.get("asked"):
        found = judge_parts(step, {**ended, "asked": ()}, context)
        # A program that goes on without one says nothing of it.
        reason = f"it asked for {ended['asked'][0]}, or what went before it did: "
        return tuple(
            replace(one, verdict=Verdict.NOT_RUN, reason=reason + one.reason, output="", diff=())
            if one.verdict in ALARMS and not _whatever_a_network_says(step, ended, context)
            else one
            for one in found
        )
    if step.kind == "doctest":
        return _doctest(step, ended, context)
    if step.kind == "python":
        error = ended.get("error")
        return (_works(step) if error is None else _exception(step, error, context, ended.get("imported") or ()),)
    return (_shell(step, ended, context),)


def set_apart(found: StepVerdict, heading: str) -> StepVerdict:
    """Return a verdict as it counts in a section that tells what was or may come: what does not hold today is no alarm there."""
    if found.verdict not in ALARMS:
        return found
    reason = f"it stands below “{one_line(heading, 40)}”: {found.reason}"
    return replace(found, verdict=Verdict.NOT_RUN, reason=reason, output="", diff=())


def _works(step: Step) -> StepVerdict:
    return StepVerdict(Verdict.WORKS, step.line)


def _not_run(step: Step, reason: str, line: int | None = None) -> StepVerdict:
    return StepVerdict(Verdict.NOT_RUN, line or step.line, reason)


def lacking(text: str) -> str:
    """Return what a sandbox lacks by a program's last words, "" where they do not say so."""
    for what, words in _LACKS:
        if re.search(words, text, re.I):
            return what
    return ""


# -- Python


def _exception(step: Step, error: Mapping[str, Any], context: Context, imported: Sequence[str] = ()) -> StepVerdict:
    kind, message, line = str(error["type"]), one_line(str(error["message"]), 300), error.get("line") or step.line
    message = _INSTALLED.sub("", message)
    said = f"{kind}: {message}" if message else kind
    at_page = error["place"] == context.page
    name = str(error.get("name") or "")

    def fails() -> StepVerdict:
        return StepVerdict(Verdict.FAILS, line, said, clean(str(error["text"])).strip()[-1500:])

    if kind == "SystemExit":
        if error.get("code") in (None, 0):
            return _works(step)
        return _not_run(
            step, f"it is a program that takes arguments, and ended with {one_line(str(error.get('code')), 60)}", line
        )
    if kind in ("ModuleNotFoundError", "ImportError"):
        root = name.split(".")[0]
        if kind == "ModuleNotFoundError" and root and root not in context.modules:
            return _not_run(step, f"it needs {root}, which is not installed", line)
        if (
            at_page
            and root in context.modules
            and not lacking(message)
            and _sources_agree(kind, name, message, context)
        ):
            return fails()
        return _not_run(step, f"it ended with {said}", line)
    if kind == "SyntaxError":
        return _not_run(step, f"it is no complete Python: {message}", line)
    if kind == "NameError":
        missing = name or (re.findall(r"'(\w+)'", message) or [""])[0]
        meant = slip_of(missing, context.imported) if len(missing) > 5 and not context.occurs(missing) else ""
        if meant and at_page and not _MEANT.search(_comments(context.around)):
            return replace(fails(), reason=f"{said}; the page has {meant}")
        return _not_run(step, f"it uses {missing}, which no earlier snippet that ran defines", line)
    if kind in ("AttributeError", "TypeError") and at_page and _is_display(step.code, context):
        return _not_run(step, "it shows what something is, and is not for running", line)
    if at_page and kind == "AttributeError" and str(error.get("owner", "")).split(".")[0] in context.modules:
        owner = str(error["owner"]).split(".")
        # Of the page's own config, say, only a module of that name was found.
        if message.startswith("module ") and {owner[0], owner[-1]} & set(imported):
            return _not_run(step, f"it leaves its imports out: {said}", line)
        missing = re.findall(r"has no attribute '(\w+)'", message)
        elsewhere = bool(missing) and context.occurs(missing[0])
        if elsewhere and (other := _of_another_section(step.code, message, context)):
            return _not_run(step, f"it uses {other}, which another section of the page has made: {said}", line)
        if message.startswith("module ") and missing and not context.lacks(str(error["owner"]), missing[0]):
            return _not_run(step, f"it ended with {said}, which the project's sources do not bear out", line)
        return fails()
    if kind == "AttributeError" and not _is_own_or_builtin(str(error.get("owner", "")), context):
        return _not_run(step, f"it may need another version of Python or of {error['owner']}: {said}", line)
    if (
        at_page
        and kind == "TypeError"
        and re.search(
            r"unexpected keyword argument|missing \d+ required|takes (?:from )?\d+ (?:to \d+ )?positional|takes no arguments",
            message,
        )
        and not step.stand_ins
    ):
        if other := _called_of_another_section(step.code, line - step.line, context):
            return _not_run(step, f"it calls {other}, which another section of the page has made: {said}", line)
        if "missing" in message and _only_shows_options(step.code, line - step.line + 1):
            return _not_run(step, f"it shows an option, and leaves out the rest: {said}", line)
        if not any(
            context.defines(part) for part in message.partition("(")[0].removesuffix(".__init__").split(".")[-1:]
        ):
            return _not_run(step, f"it may need another version of what it calls: {said}", line)
        return fails()
    if kind == "TypeError" and not step.stand_ins and _rejected(step.code, message, context):
        return fails()
    if what := lacking(f"{said} {str(error['text'])[-600:]}"):
        return _not_run(step, f"it needs {what}: {one_line(said, 120)}", line)
    if kind == "AssertionError" and at_page and not _asserts_something(step.code, line - step.line + 1):
        return _not_run(step, "it shows an assertion that cannot hold, whatever the project does", line)
    if step.stand_ins:
        return _not_run(step, f"it needs the reader's own {step.stand_ins[0]}", line)
    if _MEANT.search(_comments(context.around)):
        return _not_run(step, f"it ended with {said}, which the page may mean to show", line)
    if context.before:
        return _not_run(step, f"it ended with {one_line(said, 120)}, after {context.before}", line)
    if imported:
        return _not_run(
            step, f"it ended with {one_line(said, 120)}, and leaves out where {imported[0]} comes from", line
        )
    if kind == "AssertionError" and at_page:
        return StepVerdict(
            Verdict.DIFFERS, line, "what it asserts does not hold", clean(str(error["text"])).strip()[-1500:]
        )
    return _not_run(step, f"it ended with {said}", line)


def _whatever_a_network_says(step: Step, ended: Mapping[str, Any], context: Context) -> bool:
    """Tell whether what failed is so by the project's sources: an import of what there is not, or a parameter."""
    error = ended.get("error") or {}
    return str(error.get("type")) in ("ModuleNotFoundError", "ImportError") or _rejected(
        step.code, str(error.get("message", "")), context
    )


def _rejected(code: str, message: str, context: Context) -> bool:
    """Tell whether the page itself gives a parameter that a function of the project does not have, by its source as well."""
    found = re.match(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", message)
    if found is None:
        return False
    called, keyword = found[1].replace("<locals>.", ""), found[2]
    name = called.removesuffix(".__init__").rpartition(".")[2]
    given = re.search(rf"\b{re.escape(name)}\(", code) and re.search(rf"\b{keyword}\s*=(?!=)", code)
    return given is not None and context.rejects(called, keyword)


def _sources_agree(kind: str, name: str, message: str, context: Context) -> bool:
    """Tell whether the sources, too, hold no module or name that an import misses: what a build makes or leaves out is not there."""
    if kind == "ModuleNotFoundError":
        parent, _, last = name.rpartition(".")
        return context.lacks(parent, last) and not known.is_readers_name(last)
    wanted = re.match(r"cannot import name '(\w+)'", message)
    return wanted is None or (context.lacks(name, wanted[1]) and not known.is_readers_name(wanted[1]))


def _is_own_or_builtin(owner: str, context: Context) -> bool:
    root = owner.split(".")[0]
    return root in context.modules or root in ("", "builtins", "__main__")


def _is_display(code: str, context: Context) -> bool:
    """Tell whether a block is one call after words such as "the returned object is": that is how an object looks."""
    tree = python_of(code)
    alone = tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    prose = context.around.partition("\0")[0]
    return alone and isinstance(tree.body[0].value, ast.Call) and _DISPLAYED.search(prose) is not None  # type: ignore


def _of_another_section(code: str, message: str, context: Context) -> str:
    """Return the name whose attribute is missing where only another section of the page has bound it, else ""."""
    missing = re.findall(r"has no attribute '(\w+)'", message)
    names = re.findall(rf"\b(\w+)\.{re.escape(missing[0])}\b", code) if missing else []
    return names[0] if names and all(name in context.elsewhere for name in names) else ""


def _called_of_another_section(code: str, line: int, context: Context) -> str:
    """Return what a line calls that only another section of the page has bound, "" for nothing."""
    lines = code.splitlines()
    called = re.findall(r"(?<![\w.])(\w+)\(", lines[line]) if 0 <= line < len(lines) else []
    return next((name for name in called if name in context.elsewhere), "")


def _only_shows_options(code: str, line: int) -> bool:
    """Tell whether every call at a line gives nothing but keywords, as pages do that show one of them: ``dump(indent=2)``."""
    tree = python_of(_typed_at(code))
    calls = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line)
    ]
    return bool(calls) and all(call.keywords and not call.args for call in calls)


def _typed_at(code: str) -> str:
    """Return what is typed in a session with its lines where they are, a snippet as it is."""
    lines = [line.lstrip() for line in code.splitlines()]
    if not any(line.startswith(">>> ") for line in lines):
        return code
    return "\n".join(line[4:] if line.startswith((">>> ", "... ")) else "" for line in lines)


def _asserts_something(code: str, line: int) -> bool:
    """Tell whether the statement at a line names anything, so that its value may come of the project."""
    tree = python_of(code)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or line):
            return any(isinstance(one, ast.Name) for one in ast.walk(node.test))
    return True


def _comments(around: str) -> str:
    """Return what of a block and its paragraph is said to a reader: all but code that has no comment."""
    prose, _, code = around.partition("\0")
    return f"{prose}\n" + "\n".join(re.findall(r"#.*$|\bexcept\b.*$|'''.*|\"\"\".*", code, re.M))


def _doctest(step: Step, ended: Mapping[str, Any], context: Context) -> tuple[StepVerdict, ...]:
    found: list[StepVerdict] = []
    for example in ended.get("examples", ()):
        one = replace(_example(step, example, ended, context), code=str(example["source"]).strip())
        after = next((other for other in found if other.verdict is not Verdict.WORKS), None)
        if after is not None and one.verdict in ALARMS:
            # What went before may be why.
            reason = f"it comes after line {after.line}, which did not work: {one.reason}"
            one = StepVerdict(Verdict.NOT_RUN, one.line, reason, code=one.code)
        found.append(one)
    if not found:
        error = ended.get("error")
        return (_exception(step, error, context) if error else _not_run(step, "it holds no examples that can be run"),)
    for line, source in ended.get("left", ()):
        reason = f"it comes after line {found[-1].line}, at which the session ends"
        found.append(StepVerdict(Verdict.NOT_RUN, int(line), reason, code=str(source).strip()))
    return tuple(found)


def _example(step: Step, example: Mapping[str, Any], ended: Mapping[str, Any], context: Context) -> StepVerdict:
    """Return the verdict on an example of a Python session."""
    error, line, imported = example.get("error"), int(example["line"]), ended.get("imported") or ()
    works = StepVerdict(Verdict.WORKS, line)
    if example.get("skipped"):
        return _not_run(step, "its author has it skipped", line)
    if example.get("expected_error") is not None:
        if error is None and "..." not in str(example["expected_error"]):
            diff = difference(str(example["want"]), str(example["got"]))
            return _unless_stood_in(step, StepVerdict(Verdict.DIFFERS, line, "no exception is raised", "", diff))
        if error is not None and not _same_exception(str(example["expected_error"]), str(error["type"])):
            return _exception(step, error, context, imported)
        return works
    if error is not None:
        if re.search(r"(?<!\w)_(?!\w)", str(example["source"])) and "_" not in context.imported:
            return _not_run(step, "it uses _, which no earlier snippet that ran defines", line)
        said = _exception(step, {**error, "line": error.get("line") or line}, context, imported)
        return said if said.verdict is Verdict.NOT_RUN else _unless_stood_in(step, said)
    want, got, err = str(example["want"]), str(example["got"]), str(example.get("stderr", ""))
    if not got.strip() and not err.strip() and _binds(str(example["source"])):
        return works  # a page shows what a name is now, where a session would print nothing
    diff = doctest_difference(want, got)
    if not diff or (err and not all(doctest_difference(want, each) for each in (err, f"{err}\n{got}"))):
        return works  # a terminal shows both
    if what := lacking(f"{err}\n{ended.get('stderr', '')}"):
        return _not_run(step, f"it needs {what}", line)
    if missing := context.unbound & set(re.findall(r"\w+", step.code)):
        return _not_run(step, f"it uses {min(missing)}, after {context.before}", line)
    if _MACHINE.search(want) or _HOME.search(step.code):
        return _not_run(step, "what it prints depends on the machine's own files", line)
    if ran := ended.get("ran"):
        return _not_run(
            step, f"what it prints may come of {one_line(str(ran[0]), 60)}, a program of the machine's", line
        )
    if _LOGS.search(str(example["source"])):
        return _not_run(step, "what is logged depends on settings that the page may leave out", line)
    reason, shown = "what it prints differs from what the page says", got if got.strip() else err
    if machine := of_the_machine(want, shown):
        return _not_run(step, f"it tells of the machine, which is {machine} here", line)
    if not of_one_kind(want, shown):
        return _not_run(step, "it prints something else altogether, which need not be what the page means", line)
    return _unless_stood_in(step, StepVerdict(Verdict.DIFFERS, line, reason, shown[-1500:], difference(want, shown)))


def _binds(source: str) -> bool:
    tree = python_of(source)
    return tree is not None and bool(tree.body) and not isinstance(tree.body[-1], ast.Expr)


def _same_exception(expected: str, kind: str) -> bool:
    head = expected.split(":")[0].strip().split(".")[-1]
    return head == kind or not head.isidentifier()


def _unless_stood_in(step: Step, found: StepVerdict) -> StepVerdict:
    if step.stand_ins:
        return _not_run(step, f"it needs the reader's own {step.stand_ins[0]}", found.line)
    return found


# -- a shell


def _shell(step: Step, ended: Mapping[str, Any], context: Context) -> StepVerdict:
    out, err, status = str(ended.get("stdout", "")), str(ended.get("stderr", "")), int(ended.get("status") or 0)
    if step.expected is not None:
        diff = shell_difference(step.expected, out, err)
        if not diff:
            return _works(step)
    if status and step.expected is not None and _MEANT.search(step.expected):
        # The page shows an error: the same one is what it says, whatever else its traceback holds.
        shown, real = _LAST_ERROR.findall(step.expected), _LAST_ERROR.findall(err)
        if shown and real and shown[-1] == real[-1]:
            return _works(step)
        return _not_run(step, f"it ended with an error, as the page says, and in other words: {last_words(err, 120)}")
    if status:
        return _failed_command(step, out, err, status, context)
    if step.expected is None:
        return _works(step)
    if what := lacking(err):
        return _not_run(step, f"it needs {what}: {last_words(err, 120)}")
    if _MACHINE.search(step.expected):
        return _not_run(step, "what it prints depends on the machine's own files")
    if step.stand_ins:
        return _not_run(step, f"its output depends on the reader's own {step.stand_ins[0]}")
    if not of_one_kind(step.expected, out):
        after = f", after {context.before}" if context.before else " altogether"
        return _not_run(step, f"it prints something else{after}")
    if machine := of_the_machine(step.expected, out):
        return _not_run(step, f"it tells of the machine, which is {machine} here")
    if not any(word in context.commands or word.startswith("python") for word in step.code.split()):
        return _not_run(step, "its output is the reader's own")
    if set(step.code.split()) & {"--version", "-V", "version"}:
        return _not_run(step, "what it says of its version depends on how it was built and on what it runs")
    return StepVerdict(Verdict.DIFFERS, step.line, "what it prints differs from what the page says", out[-1500:], diff)


def _failed_command(step: Step, out: str, err: str, status: int, context: Context) -> StepVerdict:
    said = last_words(err, 200) or last_words(out, 200)
    output = clean(err or out).strip()[-1500:]
    fails = StepVerdict(Verdict.FAILS, step.line, f"exit status {status}" + (f": {said}" if said else ""), output)
    if status == 127 or "command not found" in err:
        return _not_run(step, f"it ended with: {said}")
    if re.search(r"^\s*usage:", f"{err}\n{out}", re.I | re.M) and not _arguments(step.code):
        return _not_run(step, f"it is told no arguments, and ended with status {status}: {said}")
    if status in (126, 130, 137, 143) or status < 0:
        return _not_run(step, f"it was ended with status {status}")
    modules = _NO_MODULE.findall(err)
    if modules and modules[-1].split(".")[0] not in context.modules:
        return _not_run(step, f"it needs {modules[-1]}, which is not installed")
    if _USAGE.search(err) and _runs_own(step.code, context):
        return fails
    asked = not modules or (
        re.search(rf"(?<![\w.]){re.escape(modules[-1])}\b", step.code) is not None
        and context.lacks(*modules[-1].rpartition(".")[::2])
    )
    if asked and (modules or re.search(r"ImportError: cannot import name", err)):
        return fails if not context.before else _not_run(step, f"it ended with {said}, after {context.before}")
    if what := lacking(err or out):
        return _not_run(step, f"it needs {what}: {one_line(said, 120)}")
    if step.stand_ins:
        return _not_run(step, f"it needs the reader's own {step.stand_ins[0]}")
    if _MISSING_FILE.search(err) or step.absent:
        return _not_run(step, f"it needs something that neither the repository nor the page has: {said}")
    if made := _of_the_page(step.code, err, context):
        return _not_run(step, f"it needs {made}, which the page has its reader make")
    if context.before:
        return _not_run(step, f"it ended with status {status}, after {context.before}")
    if not _runs_own(step.code, context):
        return _not_run(step, f"it ended with status {status}: {said}")
    if _MEANT.search(_comments(context.around)):
        return _not_run(step, f"it ended with status {status}, which the page may mean to show")
    if not err.strip():
        return _not_run(step, f"it ended with status {status} and no error, as a program does that has found something")
    if _MISSING_STEP.search(err):
        return fails
    return _not_run(step, f"it ended with status {status}: {said}")


def _of_the_page(code: str, err: str, context: Context) -> str:
    """Return a word of a command that its error names and that the page's other code makes, "" if there is none."""
    for word in code.split():
        named = re.search(rf"['\"`]{re.escape(word)}['\"`]", err) or (re.search(r"\w[-_:.]\w", word) and word in err)
        parts = [part for part in re.split(r"[:/=]", word) if len(part) > 3]
        if named and not word.startswith("-") and any(part in context.shown for part in parts):
            return word
    return ""


def _arguments(code: str) -> list[str]:
    """Return what a program, or a module that ``python -m`` runs, is told."""
    words = code.split()
    return words[3:] if len(words) > 1 and words[1] == "-m" else words[1:]


def _runs_own(code: str, context: Context) -> bool:
    words = set(re.findall(r"[\w.-]+", code))
    return bool(words & set(context.commands)) or any(word.split(".")[0] in context.modules for word in words)
