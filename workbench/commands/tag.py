"""``workbench tag SESSION TAG…``: stars, tags and remarks on a session or an item of it."""

from __future__ import annotations

import argparse

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.commands.arguments import shared
from workbench.commands.output import print_json, say
from workbench.results.items import find_item
from workbench.results.scores import cards_of
from workbench.session import SessionReader, SessionWriter, labels
from workbench.session.session_names import is_example, resolve_session

ARGUMENTS = {
    **shared("session"),
    "[names TAG…]": "tags; without any, and without options, what it has is said",
    "--item ITEM": "a run, trial, task or candidate by the first characters of its id, TRIAL:STEP or TRIAL:CRITERION; "
    "else the session itself",
    "--remove": "take these tags (with --star: the star) away",
    "--star": "give it a star",
    "--note TEXT": "add a remark",
    "--json": "print one JSON object with what it has now",
}


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    tags = labels.parse_tags(",".join(arguments.names)) + ((labels.STAR,) if arguments.star else ())
    note = labels.check_remark(arguments.note or "")
    if arguments.remove and not tags:
        raise UsageError("--remove needs the tags that are to go, or --star.")
    if is_example(session) and (tags or note):
        raise UsageError(
            f"{session.name} came with the program and is only read; workbench pack makes a copy of your own."
        )
    with SessionReader(session) as reader:
        item, part = _named(reader, arguments.item) if arguments.item else (labels.SESSION, "")
    step = int(part) if part.isdecimal() else None
    if tags or note:
        with SessionWriter(session) as writer, writer.transaction():
            writer.set_labels(item, part, add=() if arguments.remove else tags, remove=tags if arguments.remove else ())
            if note:
                writer.annotate(item, note, step, criterion="" if step is not None else part)
    with SessionReader(session, surveyed=False) as reader:
        given = labels.star_first(row.label for row in reader.labels(item) if row.part == part)
        remarks = [row.text for row in reader.annotations(item) if row.of == part]
    if arguments.json:
        names = {"type": "marks", "item": item, "step": step, "criterion": part.partition(":")[2] or None}
        print_json({**names, "labels": given, "remarks": remarks})
        return 0
    name = session.stem if item == labels.SESSION else f"{item}, {labels.part_in_words(part)}" if part else item
    say(f"{name}: {labels.in_words(given) or 'no tags'}")
    for remark in remarks:
        say(f"  ✎ {remark}")
    return 0


def _named(reader: SessionReader, text: str) -> tuple[str, str]:
    runs = [run.id for run in reader.every_run() if run.id.startswith(text.strip().lower())]
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
    """Return the part of a trial that a criterion is, by its key or by ``RUBRIC:TIER.KEY``."""
    parts = [
        labels.criterion_part(card.rubric, one.tier, one.key)
        for card in cards_of(reader, reader.scores(trial))
        for one in card.criteria
    ]
    known = list(dict.fromkeys(parts))
    named = [part for part in known if name == part.partition(":")[2] or name == part.rpartition(".")[2]]
    if len(named) != 1:
        several = ", ".join(part.partition(":")[2] for part in named or known) or "none, it has no scores"
        why = "several criteria are called" if named else "no criterion is called"
        raise UsageError(f"In trial {trial} {why} {one_line(name, 60)!r}; there are: {one_line(several, 600)}.")
    return named[0]
