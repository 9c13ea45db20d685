"""Asks for the file and the format of a report, as ``workbench report`` takes them, and has that of a session written."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.extensions import is_dotted
from workbench.files import expanded
from workbench.reports import FORMATS, format_by_name, in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.app.app import WorkbenchApp


def suggested_place(host: WorkbenchApp, name: str) -> str:
    """Return what stands in a dialog's field for a file: in a browser its name alone, as folders of this machine are not theirs."""
    return name if host.in_browser else str(Path.cwd() / name)


def place_of(host: WorkbenchApp, wanted: str) -> Path:
    """Return where to write a file that a person wants, a name or a path; of one in a browser only the name counts.

    Raises:
        UsageError: The path names a person who is not here.
    """
    if not host.in_browser:
        return expanded(wanted)
    return Path(_outbox().name) / (Path(wanted).name or "report.html")


def hand_over(host: WorkbenchApp, written: Path, what: str) -> None:
    """Tell where a file is that was written where :func:`place_of` said, or have the browser download it.

    Args:
        host: The app.
        written: The file.
        what: What it is: ``report``.
    """
    if not host.in_browser:
        host.notify(f"The {what} is in {written}.", title="Export", timeout=10)
        return
    host.download(written)
    # It is open, and is read from there on.
    written.unlink(missing_ok=True)
    host.notify(f"Your browser downloads the {what} {written.name}.", timeout=8)


@cache
def _outbox() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="workbench-")


@dataclass(frozen=True, slots=True)
class WantedReport:
    """Where a report goes, as it was typed, and its format, a name or a dotted path."""

    place: str
    format: str


class ReportDialog(FormDialog[WantedReport]):
    """Ends with what is wanted.

    Args:
        title: What is exported.
        place: The file that is suggested.
        formats: The formats, with what each is.
        foreign: Names of formats that plug-ins add; None where only ``formats`` will do.
        on_disk: Whether paths of this machine complete what is typed.
    """

    STARTS = "Export"

    def __init__(
        self, title: str, place: str, formats: Mapping[str, str], foreign: Sequence[str] | None, *, on_disk: bool
    ) -> None:
        known = (*formats, *(foreign or ()))
        fields = (
            Field("file", place, paths=on_disk),
            Field("format", "", known, placeholder="what the file ends in"),
        )
        super().__init__(title, fields, "file")
        self._formats, self._foreign = formats, foreign

    def about(self, field: str) -> str:
        others = "" if self._foreign is None else "; ".join(["", *self._foreign, "package.module:Class"])
        return f"{in_words(self._formats)}{others}. A file of that name is replaced."

    def will_do(self) -> str:
        answer = self.answer()
        return answer.sentence if isinstance(answer, Refused) else f"Written as {answer.format}."

    def answer(self) -> WantedReport | Refused:
        place, format = self.text("file"), self.text("format")
        if not place:
            return Refused("file", "Name a file.")
        if format and not (format in self._formats or self._is_foreign(format)):
            return Refused("format", f"There is no report format {format!r} of this.")
        format = format or format_by_name(place, self._formats)
        if not format:
            return Refused("format", f"{Path(place).suffix or 'No ending'} says no format; name one here.")
        return WantedReport(place, format)

    def _is_foreign(self, format: str) -> bool:
        return self._foreign is not None and (format in self._foreign or is_dotted(format))


async def ask_and_export(host: WorkbenchApp, session: Path) -> None:
    """Ask for a file and write the report of a session there; call it from a worker."""
    from workbench.reports.composing import foreign_names

    suggested = suggested_place(host, f"{session.stem}.html")
    question = ReportDialog("Export report", suggested, FORMATS, foreign_names(), on_disk=not host.in_browser)
    if (wanted := await host.push_screen_wait(question)) is not None:
        host.export_report(session, wanted.place, wanted.format)
