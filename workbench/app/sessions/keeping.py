"""What is done with whole session files beside what others do: renamed, and filled from files of other programs; in threads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app import runs
from workbench.app.toolkit.fields import Values
from workbench.app.toolkit.order_form import OrderForm, plan_fields, plan_values
from workbench.base.errors import WorkbenchError
from workbench.orders.import_files import ImportOrder
from workbench.orders.launching import end_of
from workbench.plans.plan import ImportPlan
from workbench.session import SessionError, SessionWriter
from workbench.session.session_folder import discard_empty, move

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp


def rename(path: Path, target: Path) -> Path:
    """Give a session another name, in its file's name and in what it calls itself."""
    move(path, target)
    # A damaged file keeps what it calls itself.
    with contextlib.suppress(SessionError), SessionWriter(target) as writer, writer.transaction():
        writer.name_session(target.stem)
    return target


class ImportDialog(OrderForm["ImportPlan"]):
    """Files of other programs and what reads them; they go into ``session``, None for a new one."""

    # What an import takes is asked when it begins: a folder that is typed half may hold a whole disk.
    LIVE = False
    DIALOG = "import"

    def __init__(
        self, host: WorkbenchApp, place: str, session: Path | None, into: str, then: Callable[[ImportOrder], object]
    ) -> None:
        note = f"A file or a folder; it goes into {into}. What is there already is skipped."
        fields = plan_fields(ImportPlan, {"file": place}, host.settings, files={"help": ""})
        super().__init__(host, "Import files of other programs", fields, {}, "file", note=note)
        self._session, self._then = session, then

    def read(self, values: Values) -> ImportPlan:
        return ImportPlan(**plan_values(ImportPlan, values) | {"files": (values["file"],)})

    def order(self, plan: ImportPlan, values: Values) -> ImportOrder:
        return ImportOrder(self._session or runs.new_session("import"), plan)

    def show(self, order: ImportOrder) -> None:
        self._then(order)


def import_result(order: ImportOrder) -> tuple[Path, str]:
    """Wait for the engine that reads the files, and return the session and what came of it."""
    assert order.process is not None
    failed = order.process.wait() not in (0, 1, 130)
    said = end_of(order.runs[0])
    if failed or (order.made and discard_empty(order.session)):
        raise WorkbenchError(said)
    return order.session, said
