"""Brings sessions into the search index, in a thread that reads them by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.search import SearchIndex


def index_path() -> Path:
    """Return where the index is kept: beside the sessions' folder."""
    return paths.data_dir() / "search.db"


def sessions_to_search(opened: Path | None, *, everywhere: bool) -> list[Path]:
    """Return the sessions that are searched: the open one, or all of the user's as well."""
    found = [opened] if opened is not None else []
    if everywhere:
        found += sorted(paths.sessions_dir().glob("*.session"))
    return list(dict.fromkeys(path.resolve() for path in found))


def fill(
    index: SearchIndex, sessions: Sequence[Path], stopped: Callable[[], bool], progress: Callable[[str], None]
) -> str:
    """Index what is new in sessions; return a sentence on those that cannot be read, "" where all can."""
    from workbench.session.reader import SessionReader

    unread: list[str] = []
    for number, path in enumerate(sessions):
        if stopped():
            break
        of = f" · session {number + 1:,} of {len(sessions):,}" if len(sessions) > 1 else ""

        def tell(done: int, of: str = of) -> None:
            progress(f"indexing: {done:,} so far{of}")

        try:
            with SessionReader(path) as reader:
                index.update(reader, stopped, tell)
        except WorkbenchError:
            if index.broken():
                raise
            unread.append(path.name)
    if not unread:
        return ""
    more = f" and {len(unread) - 3:,} more" if len(unread) > 3 else ""
    return f"not searched, as unreadable: {', '.join(unread[:3])}{more}"
