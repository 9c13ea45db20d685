"""What the Study mode reads: which studies a session has, and what came of one of them; called in threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.studies.declaration import BadStudy, Study
from workbench.studies.following import StudyReader

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.session.reader import SessionReader
    from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study of the session; ``study`` is None where its declaration is damaged, ``problem`` says so or why it stopped."""

    name: str
    study: Study | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StudyView:
    """What is shown.

    Attributes:
        session: The session file.
        lines: Its studies, oldest first.
        name: The one that is shown, "" where there is none.
        outcome: What came of it, None where it cannot be read.
        problem: Why not, "" for nothing.
    """

    session: Path
    lines: tuple[StudyLine, ...]
    name: str = ""
    outcome: StudyOutcome | None = None
    problem: str = ""


class StudyLoader:
    """Reads one study again and again; one thread at a time may call it."""

    def __init__(self) -> None:
        self._reader: SessionReader | None = None
        self._name = ""
        self._study: StudyReader | None = None

    def look(self, reader: SessionReader, name: str = "") -> StudyView:
        """Return a study as it is now, the newest of the session where ``name`` is none of it.

        Raises:
            SessionError: The session cannot be read.
        """
        lines = study_lines(reader)
        if not lines:
            return StudyView(reader.path, ())
        if name not in {line.name for line in lines}:
            name = lines[-1].name
        try:
            if self._study is None or (self._reader, self._name) != (reader, name):
                self._study, self._reader, self._name = StudyReader(reader, name), reader, name
            return StudyView(reader.path, lines, name, self._study.look())
        except BadStudy as problem:
            self._study = None
            return StudyView(reader.path, lines, name, problem=str(problem))


def study_lines(reader: SessionReader) -> tuple[StudyLine, ...]:
    """Return the studies of a session, oldest first."""
    lines = []
    for row in reader.studies():
        try:
            lines.append(StudyLine(row.name, Study.from_json(row.declaration), row.problem or ""))
        except WorkbenchError as problem:
            lines.append(StudyLine(row.name, None, str(problem)))
    return tuple(lines)
