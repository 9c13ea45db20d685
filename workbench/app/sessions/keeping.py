"""What is done with whole session files beside what others do: renamed, and filled from files of other programs; in threads."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.errors import WorkbenchError
from workbench.extensions import is_dotted
from workbench.plugins import names
from workbench.session import SessionError, SessionWriter
from workbench.session.placing import move


def rename(path: Path, target: Path) -> Path:
    """Give a session another name, in its file's name and in what it calls itself.

    Raises:
        SessionError: A run writes it, the name is taken, or the disk refuses.
    """
    move(path, target)
    # A damaged file keeps what it calls itself.
    with contextlib.suppress(SessionError), SessionWriter(target) as writer, writer.transaction():
        writer.name_session(target.stem)
    return target


def imported(place: str, session: Path | None, importer: str = "") -> tuple[Path, str]:
    """Have files of other programs read into a session, None for a new one; returns it and what came of it.

    An ``importer`` of another package, by name or dotted path, reads them all where one is named. It is another process: reading thousands of files would make the app stutter, and goes on when the app is closed.

    Raises:
        WorkbenchError: Nothing could be read.
    """
    into = ["--session", str(session)] if session is not None else []
    by = ["--format", importer] if importer else []
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "import", place, "--json", *into, *by],
        capture_output=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, start_new_session=True, check=False,
    )  # fmt: skip
    try:
        told = json.loads(done.stdout.strip().rpartition("\n")[2])
        path, problems = Path(told["session"]), [*told["problems"], *told["remarks"]]
        said = f"{told['added']:,} imported, {told['known']:,} there already" + (
            f"; {problems[0]}" if problems else "."
        )
        more = f" And {len(problems) - 1:,} more." if len(problems) > 1 else ""
    except (ValueError, KeyError, TypeError):
        raise WorkbenchError(done.stderr.strip().removeprefix("workbench: ") or "Nothing could be imported.") from None
    return path, said + more


@dataclass(frozen=True, slots=True)
class WantedImport:
    """A file or folder, as it was typed, and the importer of another package that reads it, "" for none."""

    place: str
    importer: str


class ImportDialog(FormDialog[WantedImport]):
    """Ends with what is wanted.

    Args:
        place: The path to begin with.
        into: What stands for the session that gets it.
    """

    STARTS = "Import"

    def __init__(self, place: str, into: str) -> None:
        self._into, self._importers = into, names("importer")
        fields = (
            Field("file", place, paths=True),
            Field("format", "", self._importers, placeholder="known by what is in it"),
        )
        super().__init__("Import files of other programs", fields, "file")

    def about(self, field: str) -> str:
        if field == "format":
            offered = "; ".join([*self._importers, "package.module:Class"])
            return f"An importer of a plug-in that reads all of them: {offered}. Empty: our own formats, by what is in a file."
        return f"A file or a folder; it goes into {self._into}. What is there already is skipped."

    def answer(self) -> WantedImport | Refused:
        place, importer = self.text("file"), self.text("format")
        if not place:
            return Refused("file", "Name a file or a folder.")
        if importer and not (importer in self._importers or is_dotted(importer)):
            return Refused("format", f"There is no importer {importer!r}.")
        return WantedImport(place, importer)
