"""What tells that a run has ended to a person who looks elsewhere: the terminal's bell, or a notification of the desktop."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.text import one_line

_GOING = ("running", "queued")
_BY_777 = ("foot", "rxvt")  # terminals that know OSC 777 and not OSC 9


def end_words(name: str, before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return ``demo: a run has ended, done``, "" where none has.

    Args:
        name: The session.
        before: Runs by state as they were.
        after: Runs by state as they are.
    """
    ended = sum(before.get(state, 0) - after.get(state, 0) for state in _GOING)
    if ended <= 0:
        return ""
    how = [state for state in after if state not in _GOING and after[state] > before.get(state, 0)]
    runs = "a run has" if ended == 1 else f"{ended} runs have"
    return f"{name}: {runs} ended" + (f", {', '.join(how)}" if how else "")


def notification(text: str, environment: Mapping[str, str]) -> str:
    """Return the control sequence with which a terminal shows a text as a notification of the desktop: OSC 9, or OSC 777."""
    said = one_line(text, 200).replace(";", ",")
    if environment.get("VTE_VERSION") or environment.get("TERM", "").startswith(_BY_777):
        return f"\x1b]777;notify;Workbench;{said}\x1b\\"
    return f"\x1b]9;{said}\x1b\\"
