"""The field of a run dialog that says into which session the run goes."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app import runs
from workbench.app.toolkit.form_dialog import Field
from workbench.errors import UsageError
from workbench.text import one_line


def session_field(session: str, known: Sequence[str]) -> Field:
    """Return the field; ``session`` is what stands in it, "" for a new one."""
    return Field("session", session, known, placeholder="a new one")


def about_session(text: str) -> str:
    """Return where the run goes."""
    if not text:
        return "Empty: a new session begins with this run."
    try:
        path = runs.session_named(text, "")
    except UsageError as error:
        return str(error)
    chosen = " It was chosen in Sessions (s)." if path == runs.chosen_session() else ""
    if not path.exists():
        return f"{one_line(path.stem, 100)} is made; its file is {one_line(str(path), 300)}."
    if not runs.is_writable(path):
        return f"{one_line(path.stem, 100)} is only read, so a new session begins."
    return f"The run goes into {one_line(path.stem, 100)}.{chosen}"


def problem_of_session(text: str) -> str:
    """Return why a text cannot name a session, "" where it can."""
    try:
        runs.session_named(text, "")
    except UsageError as error:
        return str(error)
    return ""
