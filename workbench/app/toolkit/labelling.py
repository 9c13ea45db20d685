"""Gives a trial, step, criterion, run, task or sample of the open session stars, tags and remarks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.latest import Latest, sentence_of
from workbench.errors import WorkbenchError
from workbench.session.labels import STAR, check_remark, differences, parse_tags
from workbench.text import one_line

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from workbench.app.app import WorkbenchApp

_MOST_KNOWN = 8
"""Tags of the session that the dialog names, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """What a label belongs to; ``name`` is what a notice calls it, ``part`` a trial's step or criterion or "".

    ``session`` is the file that it is in, None for the open session.
    """

    name: str
    item: str
    part: str = ""
    session: Path | None = None


class Labelling:
    """Reads and writes labels in threads; the feed of changes brings them to the screens."""

    def __init__(self, host: WorkbenchApp, node: DOMNode, changed: Callable[[], None]) -> None:
        self._host = host
        self._changed = changed
        self._jobs = Latest(node, "labels", every=True)

    def star(self, target: Labelled) -> None:
        session = self._session(target)
        if session is None:
            return

        def work() -> bool:
            starred = STAR in _labels(session, target)
            _write(session, target, *(((), (STAR,)) if starred else ((STAR,), ())))
            return not starred

        def done(starred: bool) -> None:
            name = one_line(target.name, 60)
            said = f"{STAR} {name} is starred." if starred else f"{name} is no longer starred."
            self._host.notify(said, timeout=3)
            self._changed()

        self._jobs.ask(work, done)

    async def ask(self, target: Labelled) -> None:
        from workbench.app.toolkit.form import AskText

        session = self._session(target)
        if session is None:
            return
        try:
            before, known = await asyncio.to_thread(_tags_and_known, session, target)
        except WorkbenchError as error:
            self._host.notify(sentence_of(error), severity="error")
            return
        note = "Separate tags with commas."
        if known:
            note += " Here so far: " + ", ".join(f"{tag} ({count:,})" for tag, count in known[:_MOST_KNOWN]) + "."
        title, typed = f"Tags of {one_line(target.name, 50)}", ", ".join(before)
        answer = await self._host.push_screen_wait(AskText(title, note, typed, check=parse_tags))
        if answer is not None:
            # A star that is typed is one; one that is not typed stays: it has a key of its own.
            came, went = differences(before, parse_tags(answer))
            if came or went:
                self._jobs.ask(partial(_write, session, target, came, went), lambda _: self._changed())

    async def remark(self, target: Labelled) -> None:
        from workbench.app.toolkit.form import AskText

        session = self._session(target)
        if session is None:
            return
        title = f"Remark on {one_line(target.name, 50)}"
        note = f"It is kept in the session, with those that are there: {key_of('app.marked')} lists them."
        answer = await self._host.push_screen_wait(AskText(title, note, check=check_remark))
        if not answer:
            return

        def done(_: None) -> None:
            self._host.notify("Kept the remark in the session.")
            self._changed()

        self._jobs.ask(partial(_annotate, session, target, check_remark(answer)), done)

    def _session(self, target: Labelled) -> Path | None:
        from workbench.app.runs import is_example

        session = target.session or self._host.session_path
        if session is None:
            self._host.notify("No session is open.")
        elif is_example(session):
            said = "The example that came with the program is only read; tag what a run of your own made."
            self._host.notify(said, severity="warning")
            return None
        return session


def _labels(session: Path, target: Labelled) -> list[str]:
    from workbench.session import SessionReader

    with SessionReader(session, surveyed=False) as reader:
        return [row.label for row in reader.labels(target.item) if row.part == target.part]


def _tags_and_known(session: Path, target: Labelled) -> tuple[tuple[str, ...], list[tuple[str, int]]]:
    from workbench.session import SessionReader

    with SessionReader(session, surveyed=False) as reader:
        rows = reader.labels()
    own = tuple(row.label for row in rows if (row.item, row.part) == (target.item, target.part) and row.label != STAR)
    return own, Counter(row.label for row in rows if row.label != STAR).most_common()


def _write(session: Path, target: Labelled, came: tuple[str, ...], went: tuple[str, ...]) -> None:
    from workbench.session import SessionWriter

    with SessionWriter(session) as writer:
        writer.set_labels(target.item, target.part, add=came, remove=went)


def _annotate(session: Path, target: Labelled, text: str) -> None:
    from workbench.session import SessionWriter

    with SessionWriter(session) as writer:
        step = int(target.part) if target.part.isdecimal() else None
        writer.annotate(target.item, text, step, criterion="" if step is not None else target.part)
