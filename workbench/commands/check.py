"""``workbench check [README.md…]``: run the commands and snippets of pages.

It also looks up the names that the pages mention.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.read_only import must_write
from workbench.base.text import clean, json_text, one_line, plural
from workbench.catalog import resolve_case, snapshot_of
from workbench.checking import BlockResult, BlockVerdict, CheckResult, check, fixed
from workbench.checking.pages import project_folder
from workbench.checking.verdicts import CheckDamaged, alarm, counts, fault, result_of, shown_lines, word, works
from workbench.claims.claim import CheckedClaim, Truth
from workbench.commands.arguments import Argument, path, whole
from workbench.commands.order_command import ORDERING, carry_out
from workbench.commands.output import print_json, say, tell, tell_over
from workbench.commands.watching import follow
from workbench.orders.check import CheckOrder
from workbench.sandbox.types import NoIsolation
from workbench.session import SessionReader
from workbench.session.rows import CheckRow
from workbench.session.session_names import resolve_session

FORMATS = ("text", "junit", "github", "json")


ARGUMENTS: dict[str, Argument] = {
    "[pages README.md…]": ("pages to check (default: README and docs)", path),
    "--source SOURCE": "the repository: a folder, git URL, NAME==VERSION or case (default: this folder)",
    "--format FORMAT": ("output format: text (default), junit, github, json", {"choices": FORMATS, "default": "text"}),
    "--session NAME": "check the READMEs of this session's trials and store the results there",
    "--trial ID…": "with --session: only this trial, or the trials of this case",
    "--again": "with --session: also check READMEs that were checked before",
    "--no-run": "run nothing, only look up names",
    "--fix-claims": "correct a name if there is exactly one candidate",
    "--verbose": "also print the blocks that were not run and the undecided claims, with the reasons",
    "--seconds N": ("time limit of a command or snippet in seconds (default: 10)", whole(1, 600), 10),
    **{usage: f"with --session: {words}" for usage, words in ORDERING.items()},
}


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if no check found a fault, or 1 if something is wrong or unreadable."""
    if arguments.json:
        arguments.format = "json"
    arguments.json = arguments.format == "json"
    if arguments.session:
        return run_on_session(arguments)
    of_sessions = ("trial", "again", "queue", "dry_run", "yes", "detach")
    if stray := [name for name in of_sessions if getattr(arguments, name)]:
        raise UsageError(f"--{stray[0].replace('_', '-')} needs --session.")
    root, files = _located(arguments.source, arguments.pages)
    if arguments.fix_claims and arguments.source and not Path(arguments.source).is_dir():
        raise UsageError("--fix-claims needs a folder as --source, or the current one.")

    def on_progress(line: str) -> None:
        if sys.stderr.isatty():
            tell_over(line and f"{line[:100]}…")

    seconds = float(arguments.seconds)
    checked = asyncio.run(check(root, files, run=not arguments.no_run, seconds=seconds, on_progress=on_progress))
    on_progress("")
    printer = partial(text, verbose=arguments.verbose) if arguments.format == "text" else PRINTERS[arguments.format]
    for line in printer(checked):
        say(line)
    if arguments.fix_claims:
        _fix(root, checked)
    return 1 if checked.alarms else 0


def _located(source: str, pages: Sequence[Path]) -> tuple[Path, tuple[Path, ...]]:
    if not source:
        return project_folder(pages[0].absolute().parent if pages else Path.cwd()), tuple(pages)
    folder = Path(source).expanduser()
    root = folder.absolute() if folder.is_dir() else snapshot_of(resolve_case(source)).root
    return root, tuple(page if page.is_file() or not (root / page).is_file() else root / page for page in pages)


def _fix(root: Path, checked: CheckResult) -> None:
    must_write("edit pages")
    for page in checked.pages:
        text = (root / page).read_bytes().decode("utf-8", "surrogateescape")
        mended, claims = fixed(text, [claim for claim in checked.claims if claim.path == page])
        if claims:
            (root / page).write_bytes(mended.encode("utf-8", "surrogateescape"))
        for claim in claims:
            tell(f"{page}:{claim.line}: {claim.text} is now {claim.lookup.nearest}")


_OF_SESSIONS = ("text", "json")


def run_on_session(arguments: argparse.Namespace) -> int:
    """Return 0 if nothing is wrong, 1 if something is wrong or could not be checked, or 130 if interrupted."""
    if arguments.pages or arguments.source or arguments.fix_claims:
        raise UsageError(
            "--session checks the READMEs of trials; it cannot be combined with pages, --source or --fix-claims."
        )
    if arguments.format not in _OF_SESSIONS:
        raise UsageError(f"With --session, --format is {' or '.join(_OF_SESSIONS)}.")
    how = {"execute": not arguments.no_run, "seconds": arguments.seconds, "anew": arguments.again}
    order = CheckOrder(resolve_session(arguments.session), arguments.trial, **how)
    try:
        order.check()
    except NoIsolation as error:
        tell(f"{error} Names are still looked up.")
        order.execute = False
    shown = _ReadmeResults(order.execute, order.seconds, arguments)

    def look() -> int:
        for run in order.runs:
            try:
                follow(order.session, run, order.process, _say_error, shown.look)
            except KeyboardInterrupt:
                order.cancel()
                tell(
                    f"Interrupted; finished checks are stored. To continue: workbench resume {order.session} --run {run}"
                )
                return 130
        with SessionReader(order.session) as reader:
            return shown.rest(reader, order.selected)

    return carry_out(arguments, order, look)


def _say_error(event: dict[str, Any]) -> None:
    if event["type"] == "error":
        tell(event["sentence"])


class _ReadmeResults:
    """Prints the result of each README once."""

    def __init__(self, execute: bool, seconds: float, arguments: argparse.Namespace) -> None:
        self._key = (int(execute), seconds)
        self._arguments = arguments
        self._printed: set[str] = set()
        self._code = 0

    def look(self, reader: SessionReader, run: str, _show: object) -> None:
        for row in reader.checks(run_id=run):
            if row.state in ("done", "failed") and row.trial_id not in self._printed:
                self._print(reader, row)

    def rest(self, reader: SessionReader, trials: Sequence[str]) -> int:
        """Print the results that already existed, and return the exit code."""
        for trial in trials:
            rows = [row for row in reader.checks(trial) if (row.executed, row.step_seconds) == self._key]
            if trial not in self._printed and rows:
                self._print(reader, rows[-1])
        return 1 if len(self._printed) < len(trials) else self._code

    def _print(self, reader: SessionReader, row: CheckRow) -> None:
        self._printed.add(row.trial_id)
        trial, checked, problem = reader.trial(row.trial_id), None, row.problem or ""
        if row.state == "done":
            try:
                checked = result_of(reader, row)
            except CheckDamaged as error:
                problem = str(error)
        if checked is None or checked.alarms:
            self._code = 1
        if self._arguments.format == "json":
            bad = {"type": "check", "trial": row.trial_id, "state": row.state, "problem": problem or None}
            for result in [bad] if checked is None else values(checked):
                print_json({**result, "trial": row.trial_id})
            return
        name = f"{trial.case_name} · {trial.agent} · {trial.model} · trial {trial.id}" if trial else row.trial_id
        say(name)
        if checked is None:
            say(f"  {problem or 'not checked'}")
            return
        for line in text(checked, verbose=self._arguments.verbose):
            say(f"  {line}" if line else "")


_MOST_OUTPUT = 8  # lines of a program's output that are shown below a failure


def text(checked: CheckResult, *, verbose: bool = False) -> list[str]:
    """Return lines in the style of a test runner, followed by the counts.

    A fault has its ``file:line``, a description and a short difference.
    """
    lines: list[str] = []
    for one in checked.alarms:
        lines += [*_alarm(one), ""] if isinstance(one, BlockResult) else _alarm(one)
    if verbose:
        lines += [
            f"{block.path}:{one.line}: {block.kind} not run: {one.reason}"
            for block in checked.blocks
            for one in ([block] if block.verdict is BlockVerdict.NOT_RUN else block.parts)
            if one.verdict is BlockVerdict.NOT_RUN and one.reason
        ]
        lines += [
            f"{one.path}:{one.line}: {one.kind} {one_line(one.text, 60)} undecided: {one.lookup.reason}"
            for one in checked.claims
            if one.lookup.truth is Truth.UNDECIDED
        ]
    return [*lines, *checked.problems, *_totals(checked)]


def _totals(checked: CheckResult) -> Iterator[str]:
    for noun, found in zip(("block", "claim"), counts(checked), strict=True):
        details = ", ".join(f"{number:,} {word}" for word, number in found.items() if number)
        yield plural(sum(found.values()), noun) + (f": {details}" if details else "")


def _alarm(one: BlockResult | CheckedClaim) -> list[str]:
    command = one.command.splitlines()[:4] if isinstance(one, BlockResult) else ()
    shown = (*(f"$ {line}" for line in command), *shown_lines(one, _MOST_OUTPUT))
    return [f"{one.path}:{one.line}: {alarm(one)}", *(f"    {line}" for line in shown)]


def junit(checked: CheckResult) -> list[str]:
    """Return JUnit XML with a suite for each page and a case for each block or claim.

    Cases without a result are skipped.
    """
    suites = ET.Element("testsuites", name="workbench check")
    for page in checked.pages:
        found: list[BlockResult | CheckedClaim] = [one for one in checked.blocks if one.path == page]
        found += [one for one in checked.claims if one.path == page]
        suite = ET.SubElement(suites, "testsuite", name=page, tests=str(len(found)))
        bad = skipped = 0
        for one in found:
            name = _xml(f"{one.kind}{'' if isinstance(one, BlockResult) else f' {one.text}'} at line {one.line}")
            case = ET.SubElement(suite, "testcase", classname=_xml(page), name=name, file=page, line=str(one.line))
            wrong = one.alarming if isinstance(one, BlockResult) else (one,) if one.lookup.truth is Truth.UNTRUE else ()
            if wrong:
                bad += 1
                failure = ET.SubElement(case, "failure", message=_xml(fault(one)))
                failure.text = _xml("\n".join(line for each in wrong for line in _alarm(each)))
            elif (
                reason := one.reason
                if isinstance(one, BlockResult)
                else one.lookup.reason * (one.lookup.truth is Truth.UNDECIDED)
            ):
                skipped += 1
                ET.SubElement(case, "skipped", message=_xml(reason))
        suite.set("failures", str(bad))
        suite.set("skipped", str(skipped))
    ET.indent(suites)
    return ['<?xml version="1.0" encoding="UTF-8"?>', *ET.tostring(suites, encoding="unicode").splitlines()]


def _xml(text: str) -> str:
    return "".join(char for char in clean(text) if char >= " " or char in "\n\t")


def github(checked: CheckResult) -> list[str]:
    """Return GitHub workflow commands, which GitHub shows as annotations."""
    lines = []
    for one in checked.alarms:
        title = f"{one.kind} {word(one)}"
        message = "\n".join([fault(one), *shown_lines(one, _MOST_OUTPUT)])
        lines.append(f"::error file={_escaped(one.path)},line={one.line},title={_escaped(title)}::{_data(message)}")
    return [*lines, *(f"::notice::{_data(problem)}" for problem in checked.problems), *_totals(checked)]


def _data(message: str) -> str:
    return clean(message).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def values(checked: CheckResult) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = [{"type": "block", **asdict(one)} for one in checked.blocks]
    for one in checked.claims:
        known = {"kind": one.kind, "text": one.text, **asdict(one.lookup)}
        lines.append({"type": "claim", "path": one.path, "line": one.line, **known})
    lines += [{"type": "problem", "problem": problem} for problem in checked.problems]
    blocks, claims = counts(checked)
    whole: dict[str, object] = {"type": "check", "pages": list(checked.pages), "blocks": blocks, "claims": claims}
    whole |= {"works": works(checked).to_json(), "cached": checked.cached, "seconds": round(checked.seconds, 2)}
    return [*lines, whole]


PRINTERS: dict[str, Callable[[CheckResult], Iterable[str]]] = {
    "junit": junit, "github": github, "json": lambda checked: map(json_text, values(checked)),
}  # fmt: skip
