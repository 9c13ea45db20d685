"""Save a new study as a ``study.toml``, from which the command line executes the same."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.files import expanded
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.studies.declaration import Study

_TITLE = "Save as study.toml"


async def ask_and_save(host: WorkbenchApp, study: Study) -> None:
    """Ask for a file and write the declaration there; call it from a worker."""
    from workbench.app.toolkit.ask import AskText, Confirm
    from workbench.app.toolkit.path_suggester import PathSuggester

    note = "`workbench study FILE` executes it; --session says into which session."
    suggested = str(Path.cwd() / f"{study.name}.toml")
    answer = await host.push_screen_wait(AskText(_TITLE, note, suggested, suggester=PathSuggester()))
    if not answer:
        return
    try:
        place, there = await asyncio.to_thread(_place, answer)
        if there and not await host.push_screen_wait(
            Confirm(_TITLE, f"{place} is there already. Write over it?", "Write")
        ):
            return
        await asyncio.to_thread(_write, place, study)
    except (WorkbenchError, OSError) as error:
        host.notify(one_line(str(error), 400), title=_TITLE, severity="error", timeout=12)
    else:
        host.notify(f"Written: {place}", title=_TITLE, timeout=8)


def _place(text: str) -> tuple[Path, bool]:
    place = expanded(text)
    return place, place.exists()


def _write(place: Path, study: Study) -> None:
    from workbench.engine.study_client import written_out
    from workbench.studies.written import study_toml

    place.write_text(study_toml(replace(study, rows=written_out(study.rows))), encoding="utf-8")
