"""``workbench catalog``: the paper's 28 repositories, with published counts and counts found here.

It also explains how to reproduce the counts.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from workbench import __version__
from workbench.base import settings
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import expanded
from workbench.base.text import one_line
from workbench.catalog.repositories import (
    TASKS_IN_THE_TEXT,
    BuildRecord,
    PaperRepository,
    Quarantined,
    bundled_record,
    find_repository,
    load_repositories,
    published_scores,
    record_of,
    write_record,
)
from workbench.commands.arguments import Verb, shared
from workbench.commands.output import print_json, print_page, say, tell
from workbench.commands.terminal import Terminal
from workbench.engine.task_building import Prepared, dropped_by_stage, prepare
from workbench.orders.regenerate import RegenerateOrder
from workbench.pages.page import FactList, MarkedText, Note, PageTable, Part, ReportPage, Section
from workbench.pages.writing import rendered
from workbench.plans.plan import RegenerationPlan
from workbench.plans.task_names import row_id
from workbench.regeneration.tasks import is_skipped
from workbench.repository.functions import find_functions
from workbench.sandbox import choose_backend
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked
from workbench.session.sample_counts import is_counted


def _check(arguments: argparse.Namespace) -> int:
    entries = [find_repository(name) for name in arguments.names]
    folder = expanded(arguments.record).absolute() if arguments.record else None
    if folder is not None and folder.exists() and not folder.is_dir():
        raise UsageError(f"--record needs a folder, which {folder} is not.")
    wanted = entries or [entry for entry in load_repositories() if entry.usable]
    return check(wanted, arguments.sandbox, arguments.record is not None, folder, arguments.json)


def _list(arguments: argparse.Namespace) -> int:
    entries = [find_repository(name) for name in arguments.names]
    if arguments.markdown:
        print_page("".join(rendered(page(), "md")))
    elif arguments.json:
        for line in as_json(entries):
            print_json(line)
    elif entries:
        sections = (Section(one.repository, (FactList(_facts(one, record_of(one))), _scores(one))) for one in entries)
        Terminal().print_page(ReportPage("", sections=tuple(sections)))
    else:
        Terminal().parts(counts())
    return 0


_PUBLISHED = ("candidates", "all_tasks", "tasks")
_HERE = ("functions", "other_functions", "traced", "in_time", "tasks", "stable", "unusable")
HEADINGS = (
    "repository", "status", "published candidates", "published all tasks", "published tasks", "here functions", "here in tests",
    "here traced", "here in time", "here tasks", "here tests", "here unusable", "reference", "stub",
)  # fmt: skip

DROPPABLE = (
    "published candidates", "here unusable", "here tests", "here in tests", "here in time", "here functions", "here traced",
    "published all tasks",
)  # fmt: skip
WRITTEN = MarkedText(
    "Written by `workbench catalog --markdown`; `workbench catalog check NAME --record` builds a repository and counts again. Every "
    "entry resolves as a source: `workbench regenerate keleshev/schema`, or `schema` for short."
)
NOTE = (
    "Published: the paper's Table 2. Its candidates fit the number of all functions, those of the tests included. Its "
    "`n_all_tasks` are functions that a passing test reaches, without those below a folder `tests/`: no docstring is needed, "
    "and no stub filter is applied. `--selection published` applies that rule ([its counts](dataset.md)). Test "
    "functions are among them only where tests lie elsewhere (schema, tabulate). Here, by the selection `filtered`: functions outside "
    "the tests, then those in tests and other files; traced by a stable test, which corresponds to `n_all_tasks`; tests within "
    "10 s, which corresponds to `n_tasks`; and tasks, which also fail with a stub and have no counterpart there. "
    "`reference` and `stub` are tasks that pass with the original body and with a stub, of all tasks."
)


def _row(name: str, status: str, published: object, here: object, absent: str = "–") -> tuple[str, ...]:
    cells = [f"{getattr(published, name):,}" for name in _PUBLISHED]
    if here is None:
        return (name, status, *cells, *[absent] * (len(HEADINGS) - 2 - len(cells)))
    cells += [f"{getattr(here, name):,}" for name in _HERE]
    tasks = cells[-3]
    return (name, status, *cells, *(f"{getattr(here, name):,}/{tasks}" for name in CONTROLS))


def counts(record: Callable[[PaperRepository], BuildRecord | None] = record_of) -> tuple[Part, ...]:
    """Return the counts of all repositories, with totals over all of them and over those built here."""
    found = [(entry, record(entry)) for entry in load_repositories()]
    built = [(entry, here) for entry, here in found if here is not None]
    rows = [
        _row(MarkedText(f"[{entry.repository}]({entry.url})"), entry.status, entry.published, here)
        for entry, here in found
    ]
    published, ours = (
        SimpleNamespace(**_summed([one.published for one, _ in each], *_PUBLISHED)) for each in (found, built)
    )
    here = SimpleNamespace(**_summed([here for _, here in built], *_HERE, *CONTROLS))
    rows += [
        _row(f"{len(found)} repositories", "", published, None, ""),
        _row(f"{len(built)} built here", "", ours, here),
    ]
    table = PageTable(HEADINGS, tuple(rows), frozenset(range(2, len(HEADINGS))), closing=2, droppable=DROPPABLE)
    total = f"Table 2's tasks sum to {published.tasks:,}; the paper's text says {TASKS_IN_THE_TEXT:,}."
    return table, Note(MarkedText(f"{NOTE} {total}"))


def page(record: Callable[[PaperRepository], BuildRecord | None] = bundled_record) -> ReportPage:
    """Return the documentation page, which uses only packaged records."""
    sections = (Section(entry.repository, (FactList(_facts(entry, record(entry))),)) for entry in load_repositories())
    return ReportPage("The paper's repositories", (Note(WRITTEN), *counts(record)), tuple(sections))


def _scores(entry: PaperRepository) -> PageTable:
    scores = published_scores(entry.repository)
    columns = list(dict.fromkeys((score.evaluator, score.k) for score in scores))
    systems = dict.fromkeys((score.documenter, score.documenter_model) for score in scores)
    value = {(s.documenter, s.documenter_model, s.evaluator, s.k): f"{s.value:.2f}" for s in scores}
    rows = tuple(
        (" ".join(filter(None, system)), *(value.get((*system, *column), "–") for column in columns))
        for system in systems
    )
    heads = ("published pass@k", *(f"{evaluator} pass@{k}" for evaluator, k in columns))
    return PageTable(heads, rows, frozenset(range(1, len(heads))))


def _facts(entry: PaperRepository, record: BuildRecord | None) -> tuple[tuple[str, str], ...]:
    counted = entry.published
    facts = [
        ("page", MarkedText(f"[{entry.url}]({entry.url})")),
        ("licence", entry.license or "not known"),
        (
            "distribution",
            MarkedText(f"`{entry.distribution}`, sha256 `{entry.sha256}`") if entry.distribution else "none",
        ),
        ("git", MarkedText(f"`{entry.git}`" + ("" if entry.revision else " (the paper states no tag or commit)"))),
        ("install", _codes(entry.install) or "what the project declares"),
        ("test", _codes(entry.test) or "what the project declares"),
        ("status", entry.status),
        ("tried", entry.tried),
        (
            "published",
            f"{counted.candidates} candidates, {counted.all_tasks} tasks in all, {counted.tasks} tasks; "
            f"{counted.forks:,} forks, {counted.stars:,} stars",
        ),
    ]
    if record is not None:
        facts += _recorded(record)
    facts += [
        ("not usable", MarkedText(f"{_number(one, record)}{_codes(one.tests)}: {one.why}")) for one in entry.quarantined
    ]
    return tuple(facts)


def _codes(texts: Sequence[str]) -> MarkedText:
    return MarkedText(", ".join(f"`{one}`" for one in texts))


def _number(quarantined: Quarantined, record: BuildRecord | None) -> str:
    if record is None or not any("*" in name for name in quarantined.tests):
        return ""
    number = sum(quarantined.means(test) for test in (*record.failing, *record.unstable))
    return f"{number} in "


def _recorded(record: BuildRecord) -> list[tuple[str, str]]:
    dropped = ", ".join(f"{number} {stage}" for stage, number in record.dropped.items())
    return [
        (
            "here",
            f"{record.functions} functions and {record.other_functions} in tests, {record.traced} traced, "
            f"{record.in_time} in time, {record.tasks} tasks (dropped: {dropped or 'none'})",
        ),
        (
            "tests",
            f"{record.stable} stable, {len(record.unstable)} unstable, {len(record.failing)} not running, "
            f"{len(record.skipped)} skipped or expected to fail",
        ),
        ("controls", f"reference {record.reference}/{record.tasks}, stub {record.stub}/{record.tasks}"),
        (
            "recorded",
            f"{record.date} with Python {record.python} in {record.sandbox}; {record.seconds['tasks']:.0f} s for the "
            f"tasks and {record.seconds['controls']:.0f} s for the controls",
        ),
    ]


def as_json(entries: Sequence[PaperRepository]) -> Iterator[dict[str, Any]]:
    wanted = entries or load_repositories()
    records = [record_of(entry) for entry in wanted]
    for entry, record in zip(wanted, records, strict=True):
        own = (name for name in entry.__dataclass_fields__ if name not in ("published", "quarantined"))
        scores = [asdict(score) for score in published_scores(entry.repository)]
        yield {
            "type": "repository",
            **picked(entry, *own, "name", "url", "git", "source"),
            "quarantined": [asdict(one) for one in entry.quarantined],
            "published": {**asdict(entry.published), "pass_at_k": scores},
            "here": record.to_json() if record else None,
        }
    built = [record for record in records if record is not None]
    published = [entry.published for entry in wanted]
    yield {
        "type": "summary",
        "repositories": len(wanted),
        "built": len(built),
        "published": _summed(published, *_PUBLISHED),
        "published_tasks_in_the_text": TASKS_IN_THE_TEXT,
        "here": _summed(built, "functions", "other_functions", "traced", "in_time", "tasks", "reference", "stub"),
    }


def _summed(rows: Sequence[object], *names: str) -> dict[str, int]:
    return {name: sum(getattr(one, name) for one in rows) for name in names}


VERBS: dict[str, Verb] = {
    "list": (
        "list the repositories, or show the named ones",
        {
            "[names NAME…]": "show these repositories (owner/name or name)",
            "--markdown": "print the catalogue as a page of the documentation",
            **shared("--json"),
        },
        _list,
    ),
    "check": (
        "build the tasks of repositories and test both controls on each",
        {
            "[names NAME…]": "these repositories (default: all that can be built)",
            "--record FOLDER": (
                "record the counts, among your own records or in FOLDER",
                {"nargs": "?", "const": "", "default": None},
            ),
            "--sandbox SANDBOX": "bubblewrap, docker, process, or package.module:Class",
            **shared("--json"),
        },
        _check,
    ),
}


@dataclass(frozen=True, slots=True)
class CheckedRepository:
    """The counts of a repository, with a sentence for each control that has a wrong verdict."""

    record: BuildRecord
    wrong: tuple[str, ...]


def check(entries: Sequence[PaperRepository], sandbox: str, recorded: bool, folder: Path | None, as_json: bool) -> int:
    """Check the repositories one after another, continuing after one that cannot be built.

    With ``recorded``, the counts are written to ``folder``, or to the user's records. Return 0 if ``reference`` passes
    and ``stub`` fails on every task of every repository, otherwise 1.
    """
    failures = 0
    for entry in entries:
        try:
            checked = check_one(entry, sandbox)
        except WorkbenchError as error:
            failures += 1
            if as_json:
                print_json({"type": "error", "repository": entry.repository, "sentence": str(error)})
            tell(f"workbench: {entry.repository}: {error}")
            continue
        failures += bool(checked.wrong)
        place = write_record(entry, checked.record, folder) if recorded else None
        if as_json:
            print_json({"type": "record", **checked.record.to_json(), "wrong": checked.wrong})
        else:
            _print(checked, place)
    if as_json:
        print_json({"type": "summary", "checked": len(entries) - failures, "failed": failures})
    return 1 if failures else 0


def check_one(entry: PaperRepository, sandbox: str = "") -> CheckedRepository:
    backend = choose_backend(sandbox or settings.load().sandbox or None)
    began = time.monotonic()
    prepared = asyncio.run(prepare(entry.repository, backend, _StageLog(entry.name), rebuild=True))
    built = time.monotonic()
    outcomes = _controls(entry, backend.name)
    ended = time.monotonic()
    names = [task.id for task in prepared.built.tasks]
    wrong = [
        f"{control} {verdict or 'has no verdict'} on {name}"
        for control, right in (("reference", True), ("stub", False))
        for name in names
        if not is_counted(verdict := outcomes.get((control, name), "")) or (verdict == "passed") != right
    ]
    passed = {control: sum(outcomes.get((control, name)) == "passed" for name in names) for control in CONTROLS}
    seconds = {"tasks": round(built - began, 1), "controls": round(ended - built, 1)}
    return CheckedRepository(_record(entry, prepared, backend.name, passed, seconds), tuple(wrong))


def _controls(entry: PaperRepository, sandbox: str) -> dict[tuple[str, str], str]:
    plan = RegenerationPlan(source=entry.repository, evaluator="reference", samples=1, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="workbench-check-") as folder:
        session = Path(folder) / "check.session"
        order = RegenerateOrder(session, plan).begin()
        (run,), process = order.runs, order.process
        assert process is not None, "an engine that was not warm is a separate process"
        tell(f"{entry.name}: controls on every task")
        try:
            process.wait()
        except BaseException:
            order.cancel()
            process.wait()
            raise
        with SessionReader(session) as reader:
            row = reader.run(run)
            if row is not None and row.error:
                raise WorkbenchError(row.error)
            tasks = {task.id: row_id(task) for task in reader.tasks(run)}
            return {
                (one.evaluator, tasks[one.task_id]): one.verdict or ""
                for one in reader.candidates(run)
                if one.evaluator in CONTROLS and one.sample == 0
            }


def _record(
    entry: PaperRepository, prepared: Prepared, sandbox: str, passed: dict[str, int], seconds: dict[str, float]
) -> BuildRecord:
    built, root = prepared.built, prepared.snapshot.root
    every = sum(
        len(find_functions((root / file.path).read_bytes(), file.path))
        for file in prepared.snapshot.files
        if file.path.endswith(".py")
    )
    functions = len(built.tasks) + len(built.dropped)
    unusable = {**built.failing, **built.taken_out, **built.not_collected}
    return BuildRecord(
        repository=entry.repository,
        source=prepared.snapshot.source,
        snapshot=prepared.snapshot.digest,
        functions=functions,
        other_functions=every - functions,
        traced=built.stages["trace"],
        in_time=built.stages["time"],
        tasks=len(built.tasks),
        dropped=dropped_by_stage(built),
        stable=built.stable,
        unstable={test: ", ".join(outcomes) for test, outcomes in built.unstable.items()},
        failing={test: _first_line(why) for test, why in unusable.items() if not is_skipped(why)},
        skipped={test: _first_line(why) for test, why in unusable.items() if is_skipped(why)},
        reference=passed["reference"],
        stub=passed["stub"],
        seconds=seconds,
        date=datetime.now(UTC).date().isoformat(),
        python=platform.python_version(),
        sandbox=sandbox,
        workbench=__version__,
    )


def _first_line(text: str) -> str:
    return one_line(text, 160)


class _StageLog:
    def __init__(self, name: str) -> None:
        self._name = name

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        if state != "running" and note:
            tell(f"{self._name}: {name} {state}  {note}".rstrip())


def _print(checked: CheckedRepository, place: Path | None) -> None:
    record = checked.record
    tests = f"{record.stable} stable tests" + (f", {record.unusable} not usable" if record.unusable else "")
    say(
        f"{record.repository}  {record.tasks} tasks of {record.functions} functions ({record.traced} traced, "
        f"{record.in_time} in time) · {tests} · reference {record.reference}/{record.tasks} · "
        f"stub {record.stub}/{record.tasks} · {record.seconds['tasks']:.0f} + {record.seconds['controls']:.0f} s · "
        f"{record.sandbox}",
        flush=True,
    )
    for sentence in checked.wrong:
        say(f"  ! {sentence}", flush=True)
    if place is not None:
        say(f"  written: {place}", flush=True)
