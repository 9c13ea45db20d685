"""What is done with whole session files: made, renamed, deleted, brought back, merged. Plain functions, called in threads."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench import paths
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.form import Form
from workbench.engine.session_names import named, plain_name
from workbench.errors import UsageError, WorkbenchError
from workbench.extensions import is_dotted
from workbench.plugins import names
from workbench.session import SessionError, SessionWriter, create
from workbench.session.placing import Deleted, delete, deleted_sessions, move, restore


def place_for(name: str, folder: Path | None = None) -> Path:
    """Return where a session of that name lies.

    Raises:
        UsageError: It cannot be a name.
    """
    return (folder or paths.sessions_dir()) / named(Path(plain_name(name)))


def make(path: Path) -> Path:
    """Make an empty session.

    Raises:
        SessionError: There is one already, or it cannot be written.
    """
    create(path)
    return path


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


def put_into_trash(path: Path) -> Deleted:
    """Move a session into the trash.

    Raises:
        SessionError: A run writes it, or the disk refuses.
    """
    return delete(path, paths.sessions_dir())


def bring_back(deleted: Deleted | None) -> Path | None:
    """Bring a session back, by default the one that was deleted last; None where the trash is empty.

    Raises:
        SessionError: It cannot be moved.
    """
    if deleted is None:
        found = deleted_sessions(paths.sessions_dir())
        if not found:
            return None
        deleted = found[0]
    return restore(deleted)


def merged(sources: Sequence[Path], target: Path) -> tuple[Path, str]:
    """Merge sessions into a new one; returns it and what came of it.

    Raises:
        WorkbenchError: See :func:`workbench.engine.merging.merge`.
    """
    from workbench.engine.merging import merge

    result = merge(sources, target)
    return result.path, result.sentence()


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


def import_form(place: str, into: str) -> Form[Values]:
    """Return the question which ``file`` or folder is read, by an importer of which ``format``; ``into`` stands for the session."""
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
