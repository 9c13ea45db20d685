"""Asks for the file or the branch that docstrings which were kept go into, and writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.form import Form
from workbench.app.toolkit.report_dialog import hand_over, place_of, suggested_place
from workbench.errors import BadField, UsageError, WorkbenchError
from workbench.files import expanded
from workbench.improving.handing_over import check_patch

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.improvement_result import Improved


class HandingDialog(Form[tuple[str, str]]):
    """Ends with a file for the patch and a name for a branch, "" for none.

    Args:
        patch: The file that is suggested.
        checkout: Why there can be no branch, "" where there can.
        on_disk: Whether paths of this machine complete what is typed.
        write: Writes the patch and makes the branch; called in a worker.
    """

    def __init__(
        self, patch: str, checkout: str, *, on_disk: bool, write: Callable[[str, str], Coroutine[Any, Any, None]]
    ) -> None:
        self._checkout, self._on_disk, self._write = checkout, on_disk, write
        about = checkout or "A branch with one commit; the working tree stays as it is. Empty for none."
        fields = (
            Field("patch", patch, paths=on_disk, check=self._check_patch),
            Field("branch", "", about, placeholder="no branch", check=self._check_branch),
        )
        note = "A file that git apply and git am take; empty for none. It must not be there yet."
        super().__init__("Write the docstrings that were kept", fields, "patch", note=note, starts="Write")

    def _check_patch(self, patch: str) -> None:
        if self._on_disk:
            check_patch(expanded(patch))

    def _check_branch(self, branch: str) -> None:
        if self._checkout:
            raise UsageError(self._checkout)

    def read(self, values: Values) -> tuple[str, str]:
        if not values["patch"] and not values["branch"]:
            raise BadField("patch", "Name a file, or a branch.")
        return values["patch"], values["branch"]

    def finish(self, answer: tuple[str, str]) -> None:
        self.run_worker(self._finish(answer))

    async def _finish(self, answer: tuple[str, str]) -> None:
        try:
            await self._write(*answer)
        except (WorkbenchError, OSError) as error:
            self.refuse(error)
        else:
            self.dismiss(answer)


async def ask_and_write(host: WorkbenchApp, session: Path, improvement: str) -> None:
    """Ask for a place and write what was kept of an order there; call it from a worker."""
    from workbench.improving.handing_over import source_checkout, suggested_name

    came = await asyncio.to_thread(_improved, session, improvement)
    source = came.plan.base.source
    checkout = await asyncio.to_thread(source_checkout, source)
    possible = checkout is not None and not host.in_browser
    without = "" if possible else "A branch needs a source that is a folder of a git checkout."

    async def write(patch: str, branch: str) -> None:
        file = place_of(host, patch) if patch else None
        told = await asyncio.to_thread(_write, session, improvement, file, branch)
        if file is not None:
            hand_over(host, file, "patch")
        if told:
            host.notify(told, title="Improve docstrings", timeout=10)

    suggested = suggested_place(host, suggested_name(source))
    await host.push_screen_wait(HandingDialog(suggested, without, on_disk=not host.in_browser, write=write))


def _improved(session: Path, improvement: str) -> Improved:
    from workbench.engine.improvement_result import improved

    return improved(session, improvement)


def _write(session: Path, improvement: str, file: Path | None, branch: str) -> str:
    """Write the patch, and make the branch; returns what is to be told of the branch.

    Raises:
        WorkbenchError: A file or branch is there already, or cannot be made.
    """
    from workbench.improving.handing_over import source_checkout

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
