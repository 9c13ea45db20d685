"""Asks for the file and the format of a report, as ``workbench report`` takes them, and has that of a session written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.form import Form
from workbench.base.errors import BadField, UsageError
from workbench.base.extensions import is_dotted
from workbench.base.files import expanded
from workbench.pages import FORMATS, PAGE_FORMATS, format_by_name, in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.app.app import WorkbenchApp
    from workbench.pages.page import ReportPage


def suggested_place(host: WorkbenchApp, name: str) -> str:
    """Return what stands in a dialog's field for a file: in a browser its name alone, as folders of this machine are not theirs."""
    return name if host.in_browser else str(Path.cwd() / name)


def place_of(host: WorkbenchApp, wanted: str) -> Path:
    """Return where to write a file that a person wants, a name or a path (UsageError); of one in a browser only the name counts."""
    if not host.in_browser:
        return expanded(wanted)
    return Path(_outbox().name) / (Path(wanted).name or "report.html")


def hand_over(host: WorkbenchApp, written: Path, what: str) -> None:
    """Tell where a file is that was written where :func:`place_of` said (a ``report``), or have the browser download it."""
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


class ReportDialog(Form[tuple[str, str, str]]):
    """Ends with the file, as it was typed, the format, a name or a dotted path, and what of ``parts`` is exported ("" for all).

    ``foreign`` names formats that plug-ins add, None where only ``formats`` will do; ``on_disk`` says whether paths of this machine complete.
    """

    LIVE = True

    def __init__(
        self,
        title: str,
        place: str,
        formats: Mapping[str, str],
        foreign: Sequence[str] | None,
        *,
        on_disk: bool,
        parts: Iterable[str] = (),
    ) -> None:
        others = "" if foreign is None else "; ".join(["", *foreign, "package.module:Class"])
        note = f"{in_words(formats)}{others}. A file of that name is replaced."
        known = (*formats, *(foreign or ()))
        options = (("", "all", "the whole session"), *((one, one, "") for one in parts))
        fields = (
            Field("file", place, paths=on_disk, needed="Name a file."),
            Field("format", known=known, placeholder="what the file ends in", check=self._check_format),
            *((Field("of", options=options),) if len(options) > 1 else ()),
        )
        super().__init__(title, fields, "file", note=note, starts="Export")
        self._formats, self._known, self._takes_foreign = formats, known, foreign is not None

    def _check_format(self, format: str) -> None:
        if format not in self._known and not (self._takes_foreign and is_dotted(format)):
            raise UsageError(f"There is no report format {format!r} of this.")

    def read(self, values: Values) -> tuple[str, str, str]:
        place, of = values["file"], values.get("of", "")
        format = values["format"] or format_by_name(place, self._formats)
        if not format:
            raise BadField("format", f"{Path(place).suffix or 'No ending'} says no format; name one here.")
        if of and format not in PAGE_FORMATS:
            raise BadField("format", f"{format} writes whole sessions; choose from {', '.join(PAGE_FORMATS)}.")
        return place, format, of

    def summary(self, answer: tuple[str, str, str], values: Values) -> str:
        return f"Written as {answer[1]}."


async def ask_and_export(
    host: WorkbenchApp, session: Path, parts: Mapping[str, str | Callable[[], ReportPage]]
) -> None:
    """Ask what to write of a session and where: all of it, or one of ``parts``, the id of an item or what makes a page."""
    from workbench.pages.writing import plugin_formats

    suggested, on_disk = suggested_place(host, f"{session.stem}.html"), not host.in_browser
    question = ReportDialog("Export report", suggested, FORMATS, plugin_formats(), on_disk=on_disk, parts=parts)
    if (wanted := await host.push_screen_wait(question)) is not None:
        place, format, of = wanted
        host.export_report(session, place, format, parts.get(of))
