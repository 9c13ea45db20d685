"""Commands that work on session files.

They pack and merge sessions, tag sessions and items, import into sessions, and export from them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.commands.arguments import Argument, Command, path, plan_arguments, plan_of, shared
from workbench.commands.order_command import ORDERING, carry_out, session_path
from workbench.commands.output import look_for_damage, print_json, say, say_path, tell, tell_over
from workbench.engine.merging import merge as merge_sessions
from workbench.interop.formats.exporting import export as export_items
from workbench.interop.formats.exporting import own_exporters
from workbench.interop.formats.importing import Tally
from workbench.interop.formats.importing import import_files as import_into
from workbench.orders.import_files import ImportOrder
from workbench.orders.launching import enqueue, wait_for_turn
from workbench.plans.plan import ImportPlan
from workbench.results.items import find_item
from workbench.results.scores import cards_of
from workbench.session import SUFFIX, SessionReader, SessionWriter, labels
from workbench.session.json_forms import picked
from workbench.session.session_folder import discard_empty
from workbench.session.session_names import is_example, named, new_place, resolve_session

# -- pack

_PACK: dict[str, Argument] = {
    **shared("session"),
    "-o --output FILE": ("the copy (default: NAME.copy.session in this folder)", Path),
}


def pack(arguments: argparse.Namespace) -> int:
    path = resolve_session(arguments.session)
    target: Path = (arguments.output or Path(f"{path.stem}.copy{SUFFIX}")).expanduser()
    if target.suffix != SUFFIX:
        target = target.with_name(target.name + SUFFIX)
    if target.exists():
        raise UsageError(f"{target} exists already; name another file with -o.")
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {target.parent}; create it, or name another file with -o.")
    with SessionReader(path) as reader:
        reader.copy_to(target)
        running = [run.id for run in reader.runs() if reader.run_state(run) == "running"]
    say_path(target)
    if running:
        tell(f"{path.name} is still being written; the copy contains everything that was finished by now.")
    return 0


# -- merge

_MERGE: dict[str, Argument] = {
    "sessions SESSION…": "two or more session files or names",
    "-o --output NAME": ("name or file of the new session", {"required": True}),
    "--json": "print one JSON object with the counts",
}


def merge(arguments: argparse.Namespace) -> int:
    sources = [resolve_session(text) for text in arguments.sessions]
    merged = merge_sessions(sources, new_place(arguments.output), on_source=lambda name: tell(f"Reading {name}…"))
    if arguments.json:
        print_json({"type": "merged", "session": str(merged.path), "rows": merged.rows, "equal": merged.equal})
    else:
        say_path(merged.path)
        say(merged.sentence())
    return 0


# -- tag

_TAG: dict[str, Argument] = {
    **shared("session"),
    "[names TAG…]": "tags to add; without tags and options, print the existing ones",
    "--item ITEM": "a run, trial, task or candidate by the first characters of its id, TRIAL:STEP or TRIAL:CRITERION "
    "(default: the session)",
    "--remove": "remove these tags instead (with --star: the star)",
    "--star": "add a star",
    "--note TEXT": "add a remark",
    "--json": "print one JSON object with the resulting tags and remarks",
}


def tag(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    tags = labels.parse_tags(",".join(arguments.names)) + ((labels.STAR,) if arguments.star else ())
    note = labels.check_remark(arguments.note or "")
    if arguments.remove and not tags:
        raise UsageError("--remove needs the tags to remove, or --star.")
    if is_example(session) and (tags or note):
        raise UsageError(f"{session.name} is a read-only bundled example; make your own copy with workbench pack.")
    with SessionReader(session) as reader:
        item, part = _tagged_item(reader, arguments.item) if arguments.item else (labels.SESSION, "")
    step = int(part) if part.isdecimal() else None
    if tags or note:
        with SessionWriter(session) as writer, writer.transaction():
            writer.set_labels(item, part, add=() if arguments.remove else tags, remove=tags if arguments.remove else ())
            if note:
                writer.annotate(item, note, step, criterion="" if step is not None else part)
    with SessionReader(session, surveyed=False) as reader:
        existing = labels.star_first(row.label for row in reader.labels(item) if row.part == part)
        remarks = [row.text for row in reader.annotations(item) if row.of == part]
    if arguments.json:
        names = {"type": "marks", "item": item, "step": step, "criterion": part.partition(":")[2] or None}
        print_json({**names, "labels": existing, "remarks": remarks})
        return 0
    name = session.stem if item == labels.SESSION else f"{item}, {labels.part_in_words(part)}" if part else item
    say(f"{name}: {labels.in_words(existing) or 'no tags'}")
    for remark in remarks:
        say(f"  ✎ {remark}")
    return 0


def _tagged_item(reader: SessionReader, text: str) -> tuple[str, str]:
    runs = [run.id for run in reader.all_runs() if run.id.startswith(text.strip().lower())]
    if len(runs) == 1:
        return runs[0], ""
    name, _, criterion = text.strip().partition(":")
    if criterion and not criterion.isdecimal():
        trial = find_item(reader, name)
        if trial.kind != "trial":
            raise UsageError(f"{one_line(text, 60)!r} names a criterion, but {trial.id} is a {trial.kind}.")
        return trial.id, _criterion(reader, trial.id, criterion)
    found = find_item(reader, text)
    return found.id, "" if found.step is None else str(found.step)


def _criterion(reader: SessionReader, trial: str, name: str) -> str:
    """Return the part of a trial with this criterion, which is named by its key or ``RUBRIC:TIER.KEY``."""
    parts = [
        labels.criterion_part(card.rubric, one.tier, one.key)
        for card in cards_of(reader, reader.scores(trial))
        for one in card.criteria
    ]
    known = list(dict.fromkeys(parts))
    matching = [part for part in known if name == part.partition(":")[2] or name == part.rpartition(".")[2]]
    if len(matching) != 1:
        choices = ", ".join(part.partition(":")[2] for part in matching or known) or "none: it has no scores"
        why = "several criteria are called" if matching else "no criterion is called"
        raise UsageError(f"In trial {trial}, {why} {one_line(name, 60)!r}; choose from {one_line(choices, 600)}.")
    return matching[0]


# -- import

_IMPORT: dict[str, Argument] = {**plan_arguments(ImportPlan), **shared("--session"), **ORDERING}


def import_files(arguments: argparse.Namespace) -> int:
    """Return 1 if something could not be read, 130 if the import was stopped, or 0."""
    order = ImportOrder(named(session_path(arguments.session)), plan_of(ImportPlan, arguments))

    def follow() -> int:
        if arguments.queue:
            enqueue(order.session, order.runs[0])
            wait_for_turn(order.session, order.runs[0])
        return _read(order, as_json=arguments.json)

    return carry_out(arguments, order, follow, here=True)


def _read(order: ImportOrder, *, as_json: bool) -> int:
    session, live = order.session, not as_json and sys.stderr.isatty()

    def on_progress(tally: Tally) -> None:
        if live:
            counts = f"{tally.added:,} imported · {tally.known:,} already present"
            tell_over(f"{tally.done:,} of {tally.files:,} files · {counts}")

    tally = import_into(session, order.runs[0], on_progress)
    if live:
        tell_over("")
    exists = not (order.made and discard_empty(session))
    for line in (*tally.problems, *tally.remarks):
        tell(line)
    if as_json:
        counts = picked(tally, "added", "known", "files", "problems", "remarks", "stopped")
        place = str(session) if exists else None
        print_json({"type": "imported", "session": place, "run": tally.run or None, **counts})
    else:
        if exists:
            say_path(session)
        say(tally.sentence())
    return 130 if tally.stopped else 1 if tally.problems else 0


# -- export

_EXPORT: dict[str, Argument] = {
    **shared("session"),
    "[items ITEM…]": "trials, or runs of candidates, by id, its first characters, or case (default: all)",
    "--to TO": (
        "; ".join(f"{one.name}: {one.about}" for one in own_exporters())
        + "; or the exporter of a plug-in, or package.module:Class",
        {"required": True},
    ),
    "-o --output PATH": ("a file, or a folder where several files are written", {"type": path, "required": True}),
    "--accepted": "only trials that are done, fully scored, and pass by every judge (60 out of 100)",
}


def export(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    damaged = look_for_damage(session)
    written = export_items(session, arguments.to, arguments.output, arguments.items, accepted=arguments.accepted)
    for note in written.notes:
        tell(note)
    say(f"Written: {written.count:,} {written.what} to {arguments.output}")
    return damaged


COMMANDS: dict[str, Command] = {
    "pack": (_PACK, pack),
    "merge": (_MERGE, merge),
    "tag": (_TAG, tag),
    "import": (_IMPORT, import_files),
    "export": (_EXPORT, export),
}
