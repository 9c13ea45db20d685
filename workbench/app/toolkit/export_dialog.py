"""The export dialog, which asks for the file, format and part of a report, like ``workbench report``."""

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


def suggested_path(host: WorkbenchApp, name: str) -> str:
    """Return the initial value of a file field; in a browser only a name, since the user's folders are remote."""
    return name if host.in_browser else str(Path.cwd() / name)


def destination(host: WorkbenchApp, wanted: str) -> Path:
    """Return the path for a file that the user named; in a browser only its name is used. Raises UsageError."""
    if not host.in_browser:
        return expanded(wanted)
    return Path(_outbox().name) / (Path(wanted).name or "report.html")


def deliver_file(host: WorkbenchApp, written: Path, what: str) -> None:
    """Tell the user where a file was written, or let the browser download it; ``what`` is a noun for the content."""
    if not host.in_browser:
        host.notify(f"The {what} is in {written}.", title="Export", timeout=10)
        return
    host.download(written)
    # The download has already opened the file.
    written.unlink(missing_ok=True)
    host.notify(f"Your browser downloads the {what} {written.name}.", timeout=8)


@cache
def _outbox() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="workbench-")


class ReportDialog(Form[tuple[str, str, str]]):
    """Dismisses with the typed file, the format (a name or a dotted path) and the part to export ("" for all).

    ``foreign`` lists the formats of plug-ins, or is None if only ``formats`` are allowed; ``on_disk`` enables path
    completion.
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
            Field("format", known=known, placeholder="the format of the file's extension", check=self._check_format),
            *((Field("of", options=options),) if len(options) > 1 else ()),
        )
        super().__init__(title, fields, "file", note=note, starts="Export")
        self._formats, self._known, self._takes_foreign = formats, known, foreign is not None

    def _check_format(self, format: str) -> None:
        if format not in self._known and not (self._takes_foreign and is_dotted(format)):
            raise UsageError(f"Format {format!r} is not available here.")

    def read(self, values: Values) -> tuple[str, str, str]:
        place, of = values["file"], values.get("of", "")
        format = values["format"] or format_by_name(place, self._formats)
        if not format:
            raise BadField(
                "format", f"{Path(place).suffix or 'A name without an extension'} does not imply a format; choose one."
            )
        if of and format not in PAGE_FORMATS:
            raise BadField("format", f"{format} exports whole sessions only; choose from {', '.join(PAGE_FORMATS)}.")
        return place, format, of

    def summary(self, answer: tuple[str, str, str], values: Values) -> str:
        return f"Written as {answer[1]}."


async def ask_and_export(
    host: WorkbenchApp, session: Path, parts: Mapping[str, str | Callable[[], ReportPage]]
) -> None:
    """Ask what to export and where: the whole session or one of ``parts`` (an item id, or a callable for a page)."""
    from workbench.pages.writing import plugin_formats

    suggested, on_disk = suggested_path(host, f"{session.stem}.html"), not host.in_browser
    question = ReportDialog("Export report", suggested, FORMATS, plugin_formats(), on_disk=on_disk, parts=parts)
    if (wanted := await host.push_screen_wait(question)) is not None:
        place, format, of = wanted
        host.export_report(session, place, format, parts.get(of))
