"""What is done with whole session files beside what others do: renamed, and filled from files of other programs; in threads."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.form import Form
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import is_dotted
from workbench.base.plugins import names
from workbench.session import SessionError, SessionWriter
from workbench.session.placing import move


def rename(path: Path, target: Path) -> Path:
    """Give a session another name, in its file's name and in what it calls itself."""
    move(path, target)
    # A damaged file keeps what it calls itself.
    with contextlib.suppress(SessionError), SessionWriter(target) as writer, writer.transaction():
        writer.name_session(target.stem)
    return target


def imported(place: str, session: Path | None, importer: str = "") -> tuple[Path, str]:
    """Have files of other programs read into a session, None for a new one, by a process that goes on when the app is closed."""
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


def import_form(place: str, into: str) -> Form[Values]:
    known = names("importer")

    def check(importer: str) -> None:
        if importer not in known and not is_dotted(importer):
            raise UsageError(f"There is no importer {importer!r}.")

    offered = "; ".join([*known, "package.module:Class"])
    about = f"An importer of a plug-in that reads all of them: {offered}. Empty: our own formats, by what is in a file."
    fields = (
        Field("file", place, paths=True, needed="Name a file or a folder."),
        Field("format", "", about, known, placeholder="known by what is in it", check=check),
    )
    note = f"A file or a folder; it goes into {into}. What is there already is skipped."
    return Form("Import files of other programs", fields, "file", note=note, starts="Import")
