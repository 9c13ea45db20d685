"""Judge the result of a step.

A step fails only if the page or the project is certain to be at fault: the project lacks a name or parameter, an option
or command is unknown, or the step reports that an earlier one is missing. Any other error may be due to the sandbox (no
network, key or screen), a version, the reader's files or a step that was not run. On projects outside the sample, the
page was at fault for only one in eight of these errors, so such a step counts as *not run*, with the error as the
reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.base.text import clean, one_line
from workbench.checking.chains import typed
from workbench.checking.judging_commands import (
    MACHINE,
    MEANT,
    StepContext,
    command_verdict,
    comments,
    lacking,
    not_run,
    part,
    works,
)
from workbench.checking.steps import PlannedStep
from workbench.checking.verdicts import ALARMS, BlockPart, BlockVerdict
from workbench.claims import known
from workbench.claims.comparing import (
    difference,
    doctest_difference,
    is_value,
    may_be_random,
    of_one_kind,
    of_the_machine,
)
from workbench.claims.python import python_of
from workbench.claims.similarity import slip_of

_LOGS = re.compile(r"\blog(?:ger|ging)?\.\w+\(|get_?logger", re.I)
_DISPLAYED = re.compile(r"\b(?:object|returned|results?|output|prints?|shows?|looks? like)\b[^\n]*:\s*$", re.I)
#: Paths on the author's machine; output that contains them is correct only there.
_HOME = re.compile(r"(?<![\w./])(?:/(?:home|root|Users)/|~[/\\])|\b[A-Z]:\\{1,2}\w")
#: The location of a module in the environment of the check; it is removed from messages.
_INSTALLED = re.compile(r" ?\(?/\S*/site-packages/[^\s)]*\)?")


def judge_parts(step: PlannedStep, ended: Mapping[str, Any], context: StepContext) -> tuple[BlockPart, ...]:
    """Return the verdicts on a step: one for each example of a Python session, or a single one for any other step."""
    if ended.get("timeout"):
        return (
            not_run(step, "it did not end within the time limit: it is a server, waits for something, or takes longer"),
        )
    if ended.get("ended"):
        return (not_run(step, f"the process of the page's snippets ended with status {ended.get('status')}"),)
    if step.kind != "shell" and ended.get("asked"):
        found = judge_parts(step, {**ended, "asked": ()}, context)
        # A program may continue without a network and never mention it.
        reason = f"it requested {ended['asked'][0]} (or an earlier step did): "
        return tuple(
            replace(one, verdict=BlockVerdict.NOT_RUN, reason=reason + one.reason, output="", diff=())
            if one.verdict in ALARMS and not _whatever_a_network_says(step, ended, context)
            else one
            for one in found
        )
    if step.kind == "doctest":
        return _doctest(step, ended, context)
    if step.kind == "python":
        error = ended.get("error")
        return (works(step) if error is None else _exception(step, error, context, ended.get("imported") or ()),)
    return (command_verdict(step, ended, context),)


def set_apart(found: BlockPart, heading: str) -> BlockPart:
    """Downgrade an alarm to *not run* if its section is about the past or the future."""
    if found.verdict not in ALARMS:
        return found
    reason = f"it stands below “{one_line(heading, 40)}”: {found.reason}"
    return replace(found, verdict=BlockVerdict.NOT_RUN, reason=reason, output="", diff=())


def went_well(found: BlockPart) -> bool:
    """Return whether later steps can be judged: this step works, or only values that may be random differ."""
    return found.verdict is BlockVerdict.WORKS or (
        found.verdict is BlockVerdict.DIFFERS and bool(found.diff) and may_be_random(found.diff)
    )


# -- Python


def _exception(
    step: PlannedStep, error: Mapping[str, Any], context: StepContext, imported: Sequence[str] = ()
) -> BlockPart:
    kind, message, line = str(error["type"]), one_line(str(error["message"]), 300), error.get("line") or step.line
    message = _INSTALLED.sub("", message)
    error_line = f"{kind}: {message}" if message else kind
    at_page = error["place"] == context.page
    name = str(error.get("name") or "")

    def unrun(reason: str) -> BlockPart:
        return not_run(step, reason, line)

    def fails() -> BlockPart:
        return part(BlockVerdict.FAILS, line, error_line, clean(str(error["text"])).strip()[-1500:])

    if kind == "SystemExit":
        if error.get("code") in (None, 0):
            return works(step)
        return unrun(f"it is a program that takes arguments, and it ended with {one_line(str(error.get('code')), 60)}")
    if kind in ("ModuleNotFoundError", "ImportError"):
        root = name.split(".")[0]
        own = root in context.project.modules
        if kind == "ModuleNotFoundError" and root and not own:
            return unrun(f"it needs {root}, which is not installed")
        if at_page and own and not lacking(message) and _sources_agree(kind, name, message, context):
            return fails()
        return unrun(f"it ended with {error_line}")
    if kind == "SyntaxError":
        return unrun(f"it is not complete Python: {message}")
    if kind == "NameError":
        missing = name or (re.findall(r"'(\w+)'", message) or [""])[0]
        suggestion = (
            slip_of(missing, context.imported) if len(missing) > 5 and not context.project.occurs(missing) else ""
        )
        if suggestion and at_page and not MEANT.search(comments(context.around)):
            return replace(fails(), reason=f"{error_line}; the page has {suggestion}")
        return unrun(f"it uses {missing}, which no earlier snippet that ran defines")
    if kind in ("AttributeError", "TypeError") and at_page and _is_display(step.code, context):
        return unrun("it only illustrates what an object looks like; it is not meant to be run")
    if at_page and kind == "AttributeError" and str(error.get("owner", "")).split(".")[0] in context.project.modules:
        owner = str(error["owner"]).split(".")
        # The object that the page uses is undefined, so the runner imported a module of the same name.
        if message.startswith("module ") and {owner[0], owner[-1]} & set(imported):
            return unrun(f"it omits its imports: {error_line}")
        missing = re.findall(r"has no attribute '(\w+)'", message)
        elsewhere = bool(missing) and context.project.occurs(missing[0])
        if elsewhere and (other := _of_another_section(step.code, message, context)):
            return unrun(f"it uses {other}, which another section of the page defines: {error_line}")
        if message.startswith("module ") and missing and not context.project.lacks(str(error["owner"]), missing[0]):
            return unrun(f"it ended with {error_line}, which the project's sources do not confirm")
        return fails()
    owner_root = str(error.get("owner", "")).split(".")[0]
    if kind == "AttributeError" and owner_root not in (*context.project.modules, "", "builtins", "__main__"):
        return unrun(f"it may need another version of Python or of {error['owner']}: {error_line}")
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
            return unrun(f"it calls {other}, which another section of the page defines: {error_line}")
        if "missing" in message and _only_shows_options(step.code, line - step.line + 1):
            return unrun(f"it only illustrates an option and omits everything else: {error_line}")
        if message.partition("(")[0].removesuffix(".__init__").rpartition(".")[2] not in context.project.defined:
            return unrun(f"it may need another version of the library that it calls: {error_line}")
        return fails()
    if kind == "TypeError" and not step.stand_ins and _rejected(step.code, message, context):
        return fails()
    if what := lacking(f"{error_line} {str(error['text'])[-600:]}"):
        return unrun(f"it needs {what}: {one_line(error_line, 120)}")
    if kind == "AssertionError" and at_page and not _asserts_something(step.code, line - step.line + 1):
        return unrun("it shows an assertion that cannot hold, whatever the project does")
    if step.stand_ins:
        return unrun(f"it needs the reader's own {step.stand_ins[0]}")
    if MEANT.search(comments(context.around)):
        return unrun(f"it ended with {error_line}, which the page may intend")
    if context.before:
        return unrun(f"it ended with {one_line(error_line, 120)}, after {context.before}")
    if imported:
        return unrun(f"it ended with {one_line(error_line, 120)}, and does not say where {imported[0]} comes from")
    if kind == "AssertionError" and at_page:
        return part(BlockVerdict.DIFFERS, line, "its assertion fails", clean(str(error["text"])).strip()[-1500:])
    return unrun(f"it ended with {error_line}")


def _whatever_a_network_says(step: PlannedStep, ended: Mapping[str, Any], context: StepContext) -> bool:
    error = ended.get("error") or {}
    return str(error.get("type")) in ("ModuleNotFoundError", "ImportError") or _rejected(
        step.code, str(error.get("message", "")), context
    )


def _rejected(code: str, message: str, context: StepContext) -> bool:
    found = re.match(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", message)
    if found is None:
        return False
    called, keyword = found[1].replace("<locals>.", ""), found[2]
    name = called.removesuffix(".__init__").rpartition(".")[2]
    passed = re.search(rf"\b{re.escape(name)}\(", code) and re.search(rf"\b{keyword}\s*=(?!=)", code)
    return passed is not None and context.project.rejects(called, keyword)


def _sources_agree(kind: str, name: str, message: str, context: StepContext) -> bool:
    """Return whether the sources lack the imported name too; if only the build lacks it, the build may be at fault."""
    if kind == "ModuleNotFoundError":
        parent, _, last = name.rpartition(".")
        return context.project.lacks(parent, last) and not known.is_readers_name(last)
    wanted = re.match(r"cannot import name '(\w+)'", message)
    return wanted is None or (context.project.lacks(name, wanted[1]) and not known.is_readers_name(wanted[1]))


def _is_display(code: str, context: StepContext) -> bool:
    """Return whether a block is a single call that shows an object, after words such as "the returned object is"."""
    tree = python_of(code)
    alone = tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    prose = context.around.partition("\0")[0]
    return alone and isinstance(tree.body[0].value, ast.Call) and _DISPLAYED.search(prose) is not None  # type: ignore


def _of_another_section(code: str, message: str, context: StepContext) -> str:
    """Return the name that lacks the attribute if only another section of the page binds it, or ""."""
    missing = re.findall(r"has no attribute '(\w+)'", message)
    names = re.findall(rf"\b(\w+)\.{re.escape(missing[0])}\b", code) if missing else []
    return names[0] if names and all(name in context.elsewhere for name in names) else ""


def _called_of_another_section(code: str, line: int, context: StepContext) -> str:
    lines = code.splitlines()
    called = re.findall(r"(?<![\w.])(\w+)\(", lines[line]) if 0 <= line < len(lines) else []
    return next((name for name in called if name in context.elsewhere), "")


def _only_shows_options(code: str, line: int) -> bool:
    """Return whether every call on a line has only keyword arguments, as in ``dump(indent=2)``: it shows an option."""
    tree = python_of(typed(code))
    calls = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line)
    ]
    return bool(calls) and all(call.keywords and not call.args for call in calls)


def _asserts_something(code: str, line: int) -> bool:
    tree = python_of(code)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or line):
            return any(isinstance(one, ast.Name) for one in ast.walk(node.test))
    return True


def _doctest(step: PlannedStep, ended: Mapping[str, Any], context: StepContext) -> tuple[BlockPart, ...]:
    found: list[BlockPart] = []
    for example in ended.get("examples", ()):
        one = replace(_example(step, example, ended, context), code=str(example["source"]).strip())
        after = next((other for other in found if not went_well(other)), None)
        if after is not None and one.verdict in ALARMS:
            # The failure of the earlier example may be the cause, so this example is not an alarm.
            reason = f"it comes after line {after.line}, which did not work: {one.reason}"
            one = part(BlockVerdict.NOT_RUN, one.line, reason, code=one.code)
        found.append(one)
    if not found:
        error = ended.get("error")
        return (
            _exception(step, error, context) if error else not_run(step, "it contains no examples that can be run"),
        )
    for line, source in ended.get("left", ()):
        reason = f"it comes after line {found[-1].line}, which ends the session"
        found.append(part(BlockVerdict.NOT_RUN, int(line), reason, code=str(source).strip()))
    return tuple(found)


def _example(
    step: PlannedStep, example: Mapping[str, Any], ended: Mapping[str, Any], context: StepContext
) -> BlockPart:
    error, line, imported = example.get("error"), int(example["line"]), ended.get("imported") or ()
    good = part(BlockVerdict.WORKS, line)
    if example.get("skipped"):
        return not_run(step, "its author marked it to be skipped", line)
    if example.get("expected_error") is not None:
        return _expected_error(step, example, ended, context)
    if error is not None:
        if re.search(r"(?<!\w)_(?!\w)", str(example["source"])) and "_" not in context.imported:
            return not_run(step, "it uses _, which no earlier snippet that ran defines", line)
        failed = _exception(step, {**error, "line": error.get("line") or line}, context, imported)
        return failed if failed.verdict is BlockVerdict.NOT_RUN else _unless_stood_in(step, failed)
    want, got, err = str(example["want"]), str(example["got"]), str(example.get("stderr", ""))
    if not got.strip() and not err.strip() and _binds(str(example["source"])):
        return good  # a page may show the new value where a session prints nothing
    diff = doctest_difference(want, got)
    if not diff or (err and not all(doctest_difference(want, each) for each in (err, f"{err}\n{got}"))):
        return good  # a terminal shows standard output and standard error together
    shown = got if got.strip() else err
    if why := _why_not_compared(step, example, ended, context, (want, shown)):
        return not_run(step, why, line)
    # Values of different types are a real difference, whereas other text may be a made-up example.
    if not (is_value(want) and is_value(shown)) and not of_one_kind(want, shown):
        return not_run(step, "its output is entirely different, which the page may intend", line)
    reason = "its output differs from the page"
    return _unless_stood_in(step, part(BlockVerdict.DIFFERS, line, reason, shown[-1500:], difference(want, shown)))


def _why_not_compared(
    step: PlannedStep,
    example: Mapping[str, Any],
    ended: Mapping[str, Any],
    context: StepContext,
    texts: tuple[str, str],
) -> str:
    """Return why the output of an example need not match the page, or "" if it must."""
    (want, shown), source = texts, str(example["source"])
    if what := lacking(f"{example.get('stderr', '')}\n{ended.get('stderr', '')}"):
        return f"it needs {what}"
    if missing := context.unbound & set(re.findall(r"\w+", step.code)):
        return f"it uses {min(missing)}, after {context.before}"
    if MACHINE.search(want) or _HOME.search(step.code):
        return "its output depends on files of this machine"
    if ran := ended.get("ran"):
        return f"its output may come from {one_line(str(ran[0]), 60)}, a program on this machine"
    if _LOGS.search(source):
        return "log output depends on settings that the page may leave out"
    machine = of_the_machine(want, shown)
    return f"it depends on the machine, which is {machine} here" if machine else ""


def _expected_error(
    step: PlannedStep, example: Mapping[str, Any], ended: Mapping[str, Any], context: StepContext
) -> BlockPart:
    error, line, claimed = example.get("error"), int(example["line"]), str(example["expected_error"]).strip()
    good = part(BlockVerdict.WORKS, line)
    head, _, want = claimed.partition(":")
    if error is None:
        if not head.replace(".", "").isidentifier():
            return good  # the page does not name an exception
        diff = difference(str(example["want"]), str(example["got"]))
        return _unless_stood_in(step, part(BlockVerdict.DIFFERS, line, "no exception is raised", "", diff))
    same = _same_exception(claimed, str(error["type"]))
    if not same and (context.before or not _words_are_own(error, context)):
        return _exception(step, error, context, ended.get("imported") or ())
    want, real = " ".join(want.split()), " ".join(str(error["message"]).split())
    if same and (not want or "IGNORE_EXCEPTION_DETAIL" in str(example["source"]) or _same_message(want, real)):
        return good
    shown = f"{error['type']}: {error['message']}"
    if why := _why_not_compared(step, example, ended, context, (claimed, shown)):
        return not_run(step, why, line)
    if what := lacking(real):
        return not_run(step, f"it needs {what}: {one_line(real, 120)}", line)
    if not _words_are_own(error, context) and _without_values(want) != _without_values(real):
        return not_run(
            step, f"another version of Python or of a library may word the exception differently: {real}", line
        )
    reason = f"the {'message' if same else 'type'} of the exception differs from the page"
    found = part(BlockVerdict.DIFFERS, line, reason, shown[-1500:], difference(claimed, shown))
    return _unless_stood_in(step, found)


def _same_message(want: str, real: str) -> bool:
    """Return whether a message equals or extends the page's.

    Class names are ignored, because Python before 3.10 omits them.
    """
    plain = [re.sub(r"(?:<locals>|\w)+\.(?=\w+\(\))", "", text) for text in (want, real)]
    return not doctest_difference(*plain) or (
        len(plain[0]) > 9 and re.match(rf"{re.escape(plain[0])}\b", plain[1]) is not None
    )


def _words_are_own(error: Mapping[str, Any], context: StepContext) -> bool:
    module = str(error["place"]).rpartition("site-packages/")[2].split("/")[0].removesuffix(".py")
    own = error["place"] == context.page or module in context.project.modules
    others = str(error.get("before") or "")
    return bool(error.get("raised")) and own and (not others or others not in str(error["message"]))


def _without_values(message: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"|[\w.<>]+(?=\()|\d+(?:\.\d+)?", "#", message)


def _binds(source: str) -> bool:
    tree = python_of(source)
    return tree is not None and bool(tree.body) and not isinstance(tree.body[-1], ast.Expr)


def _same_exception(expected: str, kind: str) -> bool:
    head = expected.split(":")[0].strip().split(".")[-1]
    return head == kind or not head.isidentifier()


def _unless_stood_in(step: PlannedStep, found: BlockPart) -> BlockPart:
    if step.stand_ins:
        return not_run(step, f"it needs the reader's own {step.stand_ins[0]}", found.line)
    return found
