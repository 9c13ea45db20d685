"""Where a hit is shown: which mode, which step or sample, and what is searched for there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.place import Place

if TYPE_CHECKING:
    from workbench.app.host import Host
    from workbench.search.index import Hit, Line

_SEARCHED_THERE = frozenset({"step", "file", "message", "readme", "metadata", "docstring", "candidate", "failing"})


async def show_hit(host: Host, hit: Hit, line: Line | None) -> None:
    """Show the place of a hit in the open session, with the matched text marked there."""
    needle = line.text[line.start : line.end] if line is not None and hit.entry.kind in _SEARCHED_THERE else ""
    if hit.item.kind == "session":
        host.open_session(hit.session, show=True)
    elif hit.item.kind == "trial":
        await host.show_trial(hit.item.id, Place(hit.entry.number, needle))
    else:
        task = hit.item.task or hit.item.id
        await host.show_run(hit.item.run, hit.item.model, Place(hit.entry.number, needle, task))
