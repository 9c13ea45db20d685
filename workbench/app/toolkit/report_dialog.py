"""Asks for the file and the format of a report, as ``workbench report`` takes them, and has that of a session written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.handing_over import suggested_place
from workbench.extensions import is_dotted
from workbench.reports import FORMATS, format_by_name, in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.app.app import WorkbenchApp


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
        """Return which formats there are."""
        others = "" if self._foreign is None else "; ".join(["", *self._foreign, "package.module:Class"])
        return f"{in_words(self._formats)}{others}. A file of that name is replaced."

    def will_do(self) -> str:
        """Return in which format it will be written."""
        answer = self.answer()
        return answer.sentence if isinstance(answer, Refused) else f"Written as {answer.format}."

    def answer(self) -> WantedReport | Refused:
        """Return file and format, or what is wrong with one of them."""
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
    from workbench.reports.foreign_format import foreign_names

    suggested = suggested_place(host, f"{session.stem}.html")
    question = ReportDialog("Export report", suggested, FORMATS, foreign_names(), on_disk=not host.in_browser)
    if (wanted := await host.push_screen_wait(question)) is not None:
        host.export_report(session, wanted.place, wanted.format)
