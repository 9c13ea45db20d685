"""The docstrings that were tried for a run: a list, and the one under the cursor beside the docstring as it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bind
from workbench.app.regeneration.improving.reading import Shown, Sides, Tried, load_shown, load_sides
from workbench.app.regeneration.went_wrong.findings import COMING
from workbench.app.regeneration.went_wrong.screen import FindingList
from workbench.app.toolkit.document import note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.text_pane import TextPane

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

_KINDS = {"improvement", "candidate", "task", "run"}
REFRESH_SECONDS = 0.5


class AttemptsPane(Pane):
    """The list of attempts."""

    short = "Attempts"

    def compose(self) -> ComposeResult:
        yield FindingList(id="attempts")


class ImprovingScreen(ModeScreen):
    """Attempts above; below the docstring as it is and the one that was tried, side by side, each with its samples.

    Args:
        run: The run with the original docs.
    """

    mode_name = "Improve docstrings"
    CSS_PATH = "../../styles/improving.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("improving.resume", "resume", "resume"),
        bind("improving.cancel", "cancel", "cancel"),
        bind("improving.export", "export", "patch or branch"),
        bind("improving.next-attempt", "attempt(1)", "Next attempt from any pane", show=False),
        bind("improving.previous-attempt", "attempt(-1)", "Previous attempt from any pane", show=False),
        bind("improving.back", "leave", "back"),
    ]

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run
        self.shown: Shown | None = None
        self._tried: Tried | None = None
        self.reading, self.detailing, self.doing = (Latest(self, name) for name in ("attempts", "sides", "order"))

    def compose_body(self) -> Iterable[Widget]:
        before = Container(TextPane(id="before-text"), id="before-pane", classes="pane")
        set_title(before, "as it is")
        after = Container(TextPane(id="after-text"), id="after-pane", classes="pane")
        set_title(after, "attempt")
        yield AttemptsPane(id="attempts-pane", classes="pane")
        yield Container(before, after, id="sides", classes="pane-group")

    def on_mount(self) -> None:
        self.set_status("reading what was tried…")
        self.list.show(COMING)

    @property
    def list(self) -> FindingList:
        return self.query_one("#attempts", FindingList)

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or done."""
        return not self.reading.due and all(one.idle for one in (self.reading, self.detailing, self.doing))

    # -- what is shown

    def on_session_opened(self, reader: SessionReader | None) -> None:
        if reader is not None:
            self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        if any(change.kind in _KINDS for change in changes):
            self.reading.soon(self._load, REFRESH_SECONDS)

    def _load(self) -> None:
        reader, run = self.workbench.reader, self._run
        if reader is not None:
            self.reading.ask(lambda: load_shown(reader, run), self._put)

    def _put(self, shown: Shown) -> None:
        follows = self.shown is None or self.list.cursor >= len(self.shown.tried)
        tried = self.selected
        self.shown = shown
        keys = [_key(one) for one in shown.tried]
        at = keys.index(_key(tried)) + 1 if tried is not None and _key(tried) in keys else len(keys)
        # Whoever is at the last attempt sees the next one come.
        self.list.show(shown.listing, cursor=len(keys) if follows and shown.state == "running" else at)
        self.retitle("#attempts-pane", f"Attempts · {shown.listing.said}", self._models(shown))
        self.set_status(shown.said)
        self._show_sides()
        self.refresh_bindings()

    def _models(self, shown: Shown) -> str:
        if not shown.tried:
            return ""
        plan = shown.tried[-1].plan
        by = f" · held out by {plan.second_evaluator}" if plan.second_evaluator else ""
        return f"{plan.writer} writes · {plan.base.evaluator} reads{by}"

    @property
    def selected(self) -> Tried | None:
        at = self.list.cursor - 1
        return self.shown.tried[at] if self.shown is not None and 0 <= at < len(self.shown.tried) else None

    def _show_sides(self) -> None:
        one, reader = self.selected, self.workbench.reader
        if one is None or reader is None:
            self._put_sides(Sides("as it is", note(""), "attempt", note("")))
            return
        self.detailing.ask(lambda: load_sides(reader, one), self._put_sides)

    def _put_sides(self, sides: Sides) -> None:
        same = _key(self._tried) == _key(self.selected)
        self._tried = self.selected
        self.retitle("#before-pane", sides.before_title)
        self.retitle("#after-pane", sides.after_title)
        self.query_one("#before-text", TextPane).show(sides.before, keep_place=same)
        self.query_one("#after-text", TextPane).show(sides.after, keep_place=same)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._show_sides()

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.shown.state if self.shown is not None else ""
        if action == "resume":
            return state in ("interrupted", "failed", "cancelled")
        if action == "cancel":
            return state in ("queued", "running")
        if action == "export":
            return self.shown is not None and any(one.attempt.is_kept for one in self.shown.tried)
        return super().check_action(action, parameters)

    def action_attempt(self, step: int) -> None:
        self.list.set_cursor(self.list.cursor + step, step)
        self._show_sides()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        one = self.selected
        if one is not None and one.attempt.run:
            host, run = self.workbench, one.attempt.run
            self.dismiss()
            host.leave_place()
            self.app.call_later(host.show_run, run, one.plan.base.evaluator)

    def action_resume(self) -> None:
        self._do("An engine goes on; nothing is asked twice.", resume=True)

    def action_cancel(self) -> None:
        self._do("Asked the engine to stop; what is there is kept.", resume=False)

    def _do(self, said: str, *, resume: bool) -> None:
        session, order = self.workbench.session_path, self.shown.order if self.shown is not None else None
        if session is None or order is None:
            return

        def work() -> None:
            from workbench.engine.improvement_client import cancel_improvement, launch_improvement

            if resume:
                launch_improvement(session, order.id)
            else:
                cancel_improvement(session, order.id)

        def done(_: None) -> None:
            self.workbench.notify(said)
            self._load()

        self.doing.ask(work, done)

    @work
    async def action_export(self) -> None:
        from workbench.app.regeneration.improving.handing import ask_and_write

        session, one = self.workbench.session_path, self.selected
        if session is None or self.shown is None:
            return
        orders = [each.order.id for each in self.shown.tried if each.attempt.is_kept]
        # Of several orders that under the cursor is meant, if anything was kept of it.
        order = one.order.id if one is not None and one.order.id in orders else orders[0]
        await ask_and_write(self.workbench, Path(session), order)


def _key(one: Tried | None) -> tuple[str, str, int] | None:
    return None if one is None else (one.order.id, one.attempt.task.id, one.attempt.number)
