"""Actions on session files: renaming a session, and importing files from other programs."""

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
    """Rename a session, including the name stored in its file."""
    move(path, target)
    # In a damaged file, the stored name is left unchanged.
    with contextlib.suppress(SessionError), SessionWriter(target) as writer, writer.transaction():
        writer.name_session(target.stem)
    return target


class ImportDialog(OrderForm["ImportPlan"]):
    """Asks for files of other programs and an importer; ``session`` is the target, or None for a new session."""

    # The form shows no estimate while the user types: a half-typed path may be a huge folder.
    LIVE = False
    DIALOG = "import"

    def __init__(
        self, host: WorkbenchApp, place: str, session: Path | None, into: str, then: Callable[[ImportOrder], object]
    ) -> None:
        note = f"A file or folder; the target is {into}. Existing items are skipped."
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
    """Wait for the engine to finish an import; returns the session and a message about the result.

    Raises WorkbenchError if the import failed or left a new session empty.
    """
    assert order.process is not None
    failed = order.process.wait() not in (0, 1, 130)
    message = end_of(order.runs[0])
    if failed or (order.made and discard_empty(order.session)):
        raise WorkbenchError(message)
    return order.session, message
