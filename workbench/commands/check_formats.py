"""What a check said: as a test runner prints it, as JUnit's XML, as annotations of GitHub, as lines of JSON."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from enum import StrEnum

from workbench.checking import BlockResult, Checked, ClaimResult, Truth, Verdict
from workbench.checking.verdicts import alarm, counts, sentence, shown_lines, works
from workbench.text import clean, json_text, one_line, plural

_MOST_OUTPUT = 8  # lines of a program's output under a failure


def text(checked: Checked, *, verbose: bool = False) -> list[str]:
    """Return the lines of a test runner: ``file:line``, what is wrong, a short difference; at the end the counts."""
    lines: list[str] = []
    for one in checked.alarms:
        if isinstance(one, BlockResult):
            lines += [line for bad in one.alarming for line in (*_block(bad), "")]
        else:
            lines.append(f"{one.path}:{one.line}: {alarm(one)}")
    if verbose:
        lines += [
            f"{block.path}:{one.line}: {block.kind} not run: {one.reason}"
            for block in checked.blocks
            for one in ([block] if block.verdict is Verdict.NOT_RUN else block.parts)
            if one.verdict is Verdict.NOT_RUN and one.reason
        ]
        lines += [
            f"{one.path}:{one.line}: {one.kind} {one_line(one.text, 60)} cannot be said: {one.reason}"
            for one in checked.claims
            if one.truth is Truth.UNKNOWN
        ]
    lines += checked.problems
    lines.append(_counted("block", counts([one.verdict for one in checked.blocks], Verdict)))
    lines.append(_counted("claim", counts([one.truth for one in checked.claims], Truth)))
    return lines


def _counted(noun: str, found: Mapping[str, int]) -> str:
    said = ", ".join(f"{number:,} {word}" for word, number in found.items() if number)
    return plural(sum(found.values()), noun) + (f": {said}" if said else "")


def _block(one: BlockResult) -> list[str]:
    lines = [f"{one.path}:{one.line}: {alarm(one)}"]
    lines += [f"    $ {line}" for line in one.command.splitlines()[:4]]
    lines += [f"    {line}" for line in shown_lines(one, _MOST_OUTPUT)]
    return lines


def junit(checked: Checked) -> list[str]:
    """Return JUnit's XML: a suite a page, a case a block or claim; what was not run or cannot be said is skipped."""
    suites = ET.Element("testsuites", name="workbench check")
    for page in checked.pages:
        found: list[BlockResult | ClaimResult] = [one for one in checked.blocks if one.path == page]
        found += [one for one in checked.claims if one.path == page]
        suite = ET.SubElement(suites, "testsuite", name=page, tests=str(len(found)))
        bad = skipped = 0
        for one in found:
            name = _xml(f"{one.kind}{'' if isinstance(one, BlockResult) else f' {one.text}'} at line {one.line}")
            case = ET.SubElement(suite, "testcase", classname=_xml(page), name=name, file=page, line=str(one.line))
            if one in checked.alarms:
                bad += 1
                message = one.reason if isinstance(one, BlockResult) else sentence(one)
                failure = ET.SubElement(case, "failure", message=_xml(message))
                blocks = one.alarming if isinstance(one, BlockResult) else ()
                failure.text = _xml("\n".join([line for each in blocks for line in _block(each)] or [message]))
            elif one.reason and (isinstance(one, BlockResult) or one.truth is Truth.UNKNOWN):
                skipped += 1
                ET.SubElement(case, "skipped", message=_xml(one.reason))
        suite.set("failures", str(bad))
        suite.set("skipped", str(skipped))
    ET.indent(suites)
    return ['<?xml version="1.0" encoding="UTF-8"?>', *ET.tostring(suites, encoding="unicode").splitlines()]


def _xml(text: str) -> str:
    return "".join(char for char in clean(text) if char >= " " or char in "\n\t")


def github(checked: Checked) -> list[str]:
    """Return workflow commands, which GitHub shows as annotations at the lines."""
    lines = []
    alarms = [bad for one in checked.alarms for bad in (one.alarming if isinstance(one, BlockResult) else (one,))]
    for one in alarms:
        if isinstance(one, BlockResult):
            title = f"{one.kind} {one.verdict}"
            message = "\n".join([one.reason, *(one.diff or one.output.splitlines()[-_MOST_OUTPUT:])])
        else:
            title, message = f"{one.kind} untrue", sentence(one)
        lines.append(f"::error file={_escaped(one.path)},line={one.line},title={_escaped(title)}::{_data(message)}")
    lines += [f"::notice::{_data(problem)}" for problem in checked.problems]
    return lines + text(Checked(checked.pages, checked.blocks, checked.claims))[-2:]


def _data(message: str) -> str:
    return clean(message).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def values(checked: Checked) -> list[dict[str, object]]:
    """Return the JSON values of each block, claim and problem, and of a summary."""
    lines: list[dict[str, object]] = [{"type": "block", **_plain(one)} for one in checked.blocks]
    lines += [{"type": "claim", **_plain(one)} for one in checked.claims]
    lines += [{"type": "problem", "problem": problem} for problem in checked.problems]
    lines.append(
        {
            "type": "check",
            "pages": list(checked.pages),
            "blocks": counts([one.verdict for one in checked.blocks], Verdict),
            "claims": counts([one.truth for one in checked.claims], Truth),
            "works": works(checked).to_json(),
            "cached": checked.cached,
            "seconds": round(checked.seconds, 2),
        }
    )
    return lines


def _plain(one: BlockResult | ClaimResult) -> dict[str, object]:
    return {key: str(value) if isinstance(value, StrEnum) else value for key, value in asdict(one).items()}


PRINTERS: dict[str, Callable[[Checked], Iterable[str]]] = {
    "text": text, "junit": junit, "github": github, "json": lambda checked: map(json_text, values(checked)),
}  # fmt: skip
