"""Ask for a new study in one dialog, order it in a thread, hand it to a process of its own, and show it as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.studies.declaration import Study
    from workbench.studies.drafts import Draft


async def ask_and_start(host: WorkbenchApp, rows: Sequence[str] = (), like: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        rows: Cases or sources to start with; none for those of the packaged studies.
        like: A study that comes with the program, or the file of one, to start with; "" for what was answered last.
    """
    from workbench.app import runs
    from workbench.app.new_study import offering
    from workbench.app.new_study.dialog import NewStudyDialog, OtherKind, StudyChoice
    from workbench.app.new_study.reckoning import place_of, reckoned
    from workbench.app.toolkit.agreeing import agreed
    from workbench.app.toolkit.form_dialog import Refused
    from workbench.app.toolkit.plain_process import plain_process
    from workbench.engine.measured import measure
    from workbench.errors import WorkbenchError
    from workbench.sandbox import NoIsolation
    from workbench.studies.declaration import AGENTS, PAPER

    settings, open_now = host.settings, host.session_path if host.reader is not None else None
    try:
        if like:
            draft: Draft = await asyncio.to_thread(offering.packaged_draft, like)
            if draft.kind == PAPER:
                raise WorkbenchError("This study is read-only: the published tables, of which nothing can be executed.")
        else:
            draft = await asyncio.to_thread(offering.first_draft, AGENTS, rows, settings)
    except WorkbenchError as error:
        host.notify(str(error), title="New study", severity="error", timeout=12)
        return
    session = "" if like else runs.default_session(open_now)
    known, first, problem = runs.known_sessions(), "", None
    while True:
        found = await asyncio.to_thread(offering.offered, draft.kind, host.reader)
        dialog = NewStudyDialog(
            draft, found, settings, partial(measure, open_now), session, known, first=first, problem=problem
        )
        answer: StudyChoice | OtherKind | None = await host.push_screen_wait(dialog)
        first, problem = "", None
        if answer is None:
            return
        session = answer.session
        if isinstance(answer, OtherKind):
            named = answer.draft.name if not answer.draft.name.startswith("my-") and not like else ""
            kept = answer.draft.rows if rows else ()
            draft = await asyncio.to_thread(offering.first_draft, answer.kind, kept, settings)
            draft = replace(draft, name=named or draft.name)
            first = "compare"
            continue
        draft, study = answer.draft, answer.study
        try:
            place = place_of(session, study.name)
            measured = await asyncio.to_thread(measure, open_now)
            told = await asyncio.to_thread(reckoned, study, place, measured, settings)
            if not await agreed(host, told.estimate):
                continue
            host.notify(f"Starting the study {study.name}…", timeout=2)
            try:
                await asyncio.to_thread(_begin, place, study)
            except NoIsolation as error:
                if not error.promises or not await host.push_screen_wait(plain_process(error)):
                    raise
                study = replace(study, settings=replace(study.settings, sandbox="process"))
                await asyncio.to_thread(_begin, place, study)
        except (WorkbenchError, OSError) as error:
            problem = Refused("name", str(error))
            continue
        await asyncio.to_thread(offering.keep, draft, settings)
        host.open_session(place, then=partial(host.show_study, study.name))
        return


def _begin(place: Path, study: Study) -> None:
    """Write the study with the runs that the session lacks, and hand it to a process that executes them.

    Raises:
        NoIsolation: No sandbox was named and none isolates; nothing was written.
    """
    from workbench.engine.study_client import order_study
    from workbench.engine.study_execution import launch_study

    order_study(place, study)
    launch_study(place, study.name)
