"""Starts, resumes and cancels runs, and determines the session for a new run. Call these functions in threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.orders import running
from workbench.session import SUFFIX, SessionReader, SessionWriter
from workbench.session.session_names import check_name, is_example, is_writable, new_place, new_session, writable_copy

if TYPE_CHECKING:
    from workbench.orders.launching import WarmEngine

__all__ = ["is_example", "is_writable", "new_session", "writable_copy"]


def chosen_session() -> Path | None:
    """Return the session that the user chose for the next run, or None if there is none or it no longer exists."""
    try:
        path = Path(_choice().read_text(encoding="utf-8"))
        return path if path.is_file() and is_writable(path) else None
    except (OSError, ValueError):
        return None


def choose_session(path: Path | None) -> None:
    if path is None:
        _choice().unlink(missing_ok=True)
        return
    _choice().parent.mkdir(parents=True, exist_ok=True)
    _choice().write_text(str(path.absolute()), encoding="utf-8")


def _choice() -> Path:
    return paths.state_dir() / "next-session"


def default_session(opened: Path | None) -> str:
    """Return the initial session of a run dialog: the chosen or the open one.

    The result is "", which stands for a new session, if there is neither, or if its name cannot be typed.
    """
    path = chosen_session() or (opened if opened is not None and is_writable(opened) else None)
    if path is None:
        return ""
    text = path.stem if path.parent == paths.sessions_dir() else str(path)
    try:
        check_name(text)
    except UsageError:
        return ""
    return text


def session_named(text: str, name: str) -> Path:
    """Return the path of the session named in a run dialog, or of a new one called ``name`` if ``text`` is "".

    Raises UsageError for an invalid name.
    """
    return new_place(text) if text else new_session(name)


def place_of_run(text: str, name: str) -> Path:
    """Return the session for a new run: the named one or, if that is read-only, a new one called ``name``."""
    path = session_named(text, name)
    return path if not path.exists() or is_writable(path) else new_session(name)


def known_sessions() -> tuple[str, ...]:
    try:
        return tuple(sorted(path.stem for path in paths.sessions_dir().iterdir() if path.suffix == SUFFIX))
    except OSError:
        return ()


def has_active_run(reader: SessionReader | None) -> bool:
    return reader is not None and any(reader.run_state(run) in {"queued", "running"} for run in reader.runs())


def cancel(session: Path, run: str | None = None) -> int:
    with SessionReader(session) as reader:
        rows = [row for row in reader.runs() if run in (None, row.id)]
        active = [row.id for row in rows if reader.run_state(row) in {"queued", "running", "interrupted"}]
    for key in active:
        running.cancel(session, key)
    return len(active)


def resume(session: Path, run: str | None, warm: WarmEngine | None) -> tuple[Path, int]:
    """Resume all incomplete runs of a session, or one of them; a bundled example is copied first.

    Returns the session and the number of resumed runs.
    """
    own = writable_copy(session)
    return own, len(running.resume(own, run, warm))


def resume_study(session: Path, name: str) -> tuple[Path, int]:
    """Execute the missing parts of a study, including unplanned cells; a bundled example is copied first.

    Returns the session and the number of incomplete runs.
    """
    from workbench.orders.study import StudyOrder
    from workbench.studies.study_reader import declared

    with SessionReader(session) as reader:
        order = StudyOrder(session, declared(reader, name))
    order.begin()
    return order.session, len(order.runs)


def write(session: Path, change: Callable[[SessionWriter], None]) -> None:
    with SessionWriter(session) as writer, writer.transaction():
        change(writer)
