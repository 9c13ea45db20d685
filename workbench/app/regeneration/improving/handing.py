"""Asks for the file or the branch that docstrings which were kept go into, and writes it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.report_dialog import hand_over, place_of, suggested_place
from workbench.errors import UsageError
from workbench.files import expanded
from workbench.improving.changes import check_patch

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.improvement_result import Improved


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file for the patch, and a name for a branch; "" for none."""

    patch: str
    branch: str


class HandingDialog(FormDialog[Wanted]):
    """Ends with what is wanted.

    Args:
        patch: The file that is suggested.
        branch: The branch that is suggested, "" for none.
        checkout: Why there can be no branch, "" where there can.
        on_disk: Whether paths of this machine complete what is typed.
    """

    STARTS = "Write"

    def __init__(self, patch: str, branch: str, checkout: str, *, on_disk: bool) -> None:
        fields = (Field("patch", patch, paths=on_disk), Field("branch", branch, placeholder="no branch"))
        super().__init__("Write the docstrings that were kept", fields, "patch")
        self._checkout, self._on_disk = checkout, on_disk

    def about(self, field: str) -> str:
        if field == "branch":
            return self._checkout or "A branch with one commit; the working tree stays as it is. Empty for none."
        return "A file that git apply and git am take; empty for none. It must not be there yet."

    def answer(self) -> Wanted | Refused:
        patch, branch = self.text("patch"), self.text("branch")
        if not patch and not branch:
            return Refused("patch", "Name a file, or a branch.")
        if branch and self._checkout:
            return Refused("branch", self._checkout)
        if patch and self._on_disk:
            try:
                check_patch(expanded(patch))
            except UsageError as error:
                return Refused("patch", str(error))
        return Wanted(patch, branch)


async def ask_and_write(host: WorkbenchApp, session: Path, improvement: str) -> None:
    """Ask for a place and write what was kept of an order there; call it from a worker."""
    from workbench.errors import WorkbenchError
    from workbench.improving.changes import source_checkout, suggested_name

    came = await asyncio.to_thread(_improved, session, improvement)
    source = came.plan.base.source
    checkout = await asyncio.to_thread(source_checkout, source)
    without = (
        ""
        if checkout is not None and not host.in_browser
        else "A branch needs a source that is a folder of a git checkout."
    )
    wanted = Wanted(suggested_place(host, suggested_name(source)), "")
    while True:
        dialog = HandingDialog(wanted.patch, wanted.branch, without, on_disk=not host.in_browser)
        answer: Wanted | None = await host.push_screen_wait(dialog)
        if answer is None:
            return
        wanted = answer
        try:
            file = place_of(host, wanted.patch) if wanted.patch else None
            told = await asyncio.to_thread(_write, session, improvement, file, wanted.branch)
        except (WorkbenchError, OSError) as error:
            host.notify(str(error), title="Improve docstrings", severity="error", timeout=12)
            continue
        if file is not None:
            hand_over(host, file, "patch")
        if told:
            host.notify(told, title="Improve docstrings", timeout=10)
        return


def _improved(session: Path, improvement: str) -> Improved:
    from workbench.engine.improvement_result import improved

    return improved(session, improvement)


def _write(session: Path, improvement: str, file: Path | None, branch: str) -> str:
    """Write the patch, and make the branch; returns what is to be told of the branch.

    Raises:
        WorkbenchError: A file or branch is there already, or cannot be made.
    """
    from workbench.improving.changes import source_checkout

    came = _improved(session, improvement)
    checkout = source_checkout(came.plan.base.source)
    if file is not None:
        check_patch(file)
    if branch and checkout is not None:
        checkout.check_branch(branch)
    if file is not None:
        from workbench.improving.changes import patch_of

        file.write_bytes(patch_of(came.changes, came.message, checkout.prefix if checkout is not None else ""))
    if branch and checkout is not None:
        commit = checkout.commit(branch, came.changes, came.message)
        return f"The branch {branch} has the docstrings (commit {commit})."
    return ""
