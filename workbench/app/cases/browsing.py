"""The part of the Cases mode that reads: the catalogue, files, scores and fetches, in threads, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.latest import Latest

if TYPE_CHECKING:
    from workbench.app.cases.files import Fetcher, FileShown, Repository
    from workbench.app.cases.listing import AgentScore, CaseEntry
    from workbench.app.cases.screen import CasesScreen
    from workbench.session.reader import SessionReader

Scores = dict[str, tuple["AgentScore", ...]]


class Browsing:
    """Keeps what can be worked on and reads what of it is looked at.

    Attributes:
        listed: The cases of the catalogue.
        opened: Those that a person opened.

    Args:
        view: Where all of it is shown.
    """

    def __init__(self, view: CasesScreen) -> None:
        self._view = view
        self.listed: tuple[CaseEntry, ...] = ()
        self.opened: list[CaseEntry] = []
        self._fetching: dict[str, str] = {}
        self._failed: dict[str, str] = {}
        self._fetcher: Fetcher | None = None
        self._listing = Latest(view, "case-listing")
        self._scoring = Latest(view, "case-scores")
        self._opening = Latest(view, "case-files")
        self._reading = Latest(view, "case-file")
        self._adding = Latest(view, "case-add", every=True)

    @property
    def entries(self) -> tuple[CaseEntry, ...]:
        return (*self.listed, *self.opened)

    def entry(self, key: str | None) -> CaseEntry | None:
        return next((entry for entry in self.entries if entry.key == key), None)

    def list_cases(self) -> None:
        """Read the catalogue."""

        def work() -> tuple[Sequence[CaseEntry], Sequence[str]]:
            from workbench.app.cases.listing import list_cases

            return list_cases()

        def done(found: tuple[Sequence[CaseEntry], Sequence[str]]) -> None:
            self.listed = tuple(found[0])
            self._view.show_list()
            self._view.show_problems(found[1])

        self._listing.ask(work, done)

    def read_scores(self, reader: SessionReader) -> None:
        """Read the last scores of each agent by case."""

        def work() -> Scores | None:
            from workbench.app.cases.listing import last_scores
            from workbench.errors import WorkbenchError

            try:
                return last_scores(reader)
            except (WorkbenchError, ValueError, TypeError):
                return None  # the feed, and the notice at opening, tell what is wrong with the file

        def done(scores: Scores | None) -> None:
            if scores is not None:
                self._view.show_scores(scores)

        self._scoring.ask(work, done)

    def open(self, entry: CaseEntry) -> None:
        """Read the files of a case, unless they are being fetched or could not be had."""
        if entry.key in self._fetching:
            self._view.show_note(entry, self._fetching[entry.key])
            return
        if entry.key in self._failed:
            self._view.show_note(entry, self._failed[entry.key], failed=True)
            return
        self._view.show_note(entry, "Reading…")

        def work() -> Repository | None:
            from workbench.app.cases.files import open_repository

            return open_repository(entry)

        self._opening.ask(
            work,
            lambda repository: self._view.show_repository(entry, repository),
            lambda sentence: self._fail(entry, sentence),
        )

    def _fail(self, entry: CaseEntry, sentence: str) -> None:
        self._fetching.pop(entry.key, None)
        self._failed[entry.key] = sentence
        self._view.show_note(entry, sentence, failed=True)

    def fetch(self, entry: CaseEntry) -> bool:
        """Fetch the files of a case; False if they are here already."""
        if entry.key in self._fetching:
            return True
        if entry.fetched and entry.key not in self._failed:
            return False
        self._failed.pop(entry.key, None)
        self._fetching[entry.key] = f"Fetching {entry.case.name}…"
        self._view.show_note(entry, self._fetching[entry.key])
        fetching = Latest(self._view, "case-fetch")  # one of its own: several cases may be fetched at once

        def work() -> Repository | None:
            from workbench.app.cases.files import Fetcher, open_repository

            if self._fetcher is None:
                self._fetcher = Fetcher()
            self._fetcher.fetch(entry, lambda sentence: fetching.report(progress, sentence))
            return open_repository(entry)

        def progress(sentence: str) -> None:
            if entry.key in self._fetching:
                self._fetching[entry.key] = sentence
                self._view.show_note(entry, sentence)

        def done(repository: Repository | None) -> None:
            self._fetching.pop(entry.key, None)
            self.listed = tuple(replace(one, fetched=True) if one.key == entry.key else one for one in self.listed)
            self.opened = [replace(one, fetched=True) if one.key == entry.key else one for one in self.opened]
            self._view.show_list()
            self._view.show_repository(entry, repository)

        fetching.ask(
            work, done, lambda sentence: self._fail(entry, f"{sentence}\n\nPress {key_of('cases.fetch')} to try again.")
        )
        return True

    def close(self) -> None:
        """End fetches under way: what arrived so far is not in the cache, so nothing half is left."""
        if self._fetcher is not None:
            self._fetcher.close()

    def read(self, repository: Repository, path: str) -> None:
        def work() -> FileShown:
            from workbench.app.cases.files import read_file

            return read_file(repository.snapshot.root, path)

        self._reading.ask(
            work,
            lambda shown: self._view.show_file(repository.key, path, shown),
            lambda sentence: self._view.show_file(repository.key, path, None, sentence),
        )

    def add(self, text: str) -> None:
        """Open any folder, git URL or source distribution."""

        def work() -> CaseEntry:
            from workbench.app.cases.listing import entry_of
            from workbench.catalog import case_from_source, check_there

            case = case_from_source(text)
            check_there(case)
            return entry_of(case, case.source)

        def done(entry: CaseEntry) -> None:
            self.opened = [other for other in self.opened if other.key != entry.key] + [entry]
            self._view.show_list()
            self._view.show_added(entry)

        self._adding.ask(work, done, self._view.show_refusal)
