"""One line that keeps all evaluators and runs of a session in sight: which is shown, which others there are."""

from __future__ import annotations

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.regeneration.evaluators import short_names
from workbench.app.regeneration.loading import RunView
from workbench.session.groups import Group

_Piece = tuple[str, str]


class EvaluatorLine(Widget):
    """``evaluators [gpt-5-mini 12/12]  local 3/20  v`` and ``run 1 of 2  H/L``; hidden where there is one of each."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    EvaluatorLine { height: 1; padding: 0 1; display: none; background: $surface; }
    EvaluatorLine.-open { display: block; }
    """

    class Chosen(Message):
        """The name of a group was clicked."""

        def __init__(self, group: Group) -> None:
            super().__init__()
            self.group = group

    view: reactive[RunView | None] = reactive(None)

    def watch_view(self, view: RunView | None) -> None:
        """Take a line only where there is a choice."""
        self.set_class(view is not None and (len(view.progress) > 1 or len(view.order) > 1), "-open")

    def render(self) -> RenderResult:
        """Return the evaluators on the left and the runs on the right."""
        view = self.view
        if view is None:
            return Content("")
        left = Content.assemble(*(piece for _, pieces in self._evaluators(view) for piece in pieces))
        right = Content.assemble(*_runs(view))
        gap = self.size.width - left.cell_length - right.cell_length
        if gap < 2:
            return (left if len(view.progress) > 1 else right).truncate(self.size.width, ellipsis=True)
        return Content.assemble(left, " " * gap, right)

    def _evaluators(self, view: RunView) -> list[tuple[Group | None, list[_Piece]]]:
        """Return the pieces of the line by group (None for what belongs to none)."""
        if len(view.progress) < 2:
            return []
        found: list[tuple[Group | None, list[_Piece]]] = [(None, [("evaluators ", "$text-muted")])]
        for one, name in zip(view.progress, short_names(view.progress), strict=True):
            said = f"{name} {f'{one.decided:,}/{one.total:,}' if one.total else '·'}"
            current = one.group == view.group
            found.append((one.group, [(f"[{said}]", "bold $primary") if current else (f" {said} ", "$text-muted")]))
        return [*found, (None, [(" v next", "$text-muted")])]

    def on_click(self, event: events.Click) -> None:
        """Choose the group whose name was clicked."""
        x = 1
        for group, pieces in self._evaluators(self.view) if self.view is not None else []:
            x += sum(Content(text).cell_length for text, _ in pieces)
            if event.x < x:
                if group is not None:
                    self.post_message(self.Chosen(group))
                return


def _runs(view: RunView) -> list[_Piece]:
    if len(view.order) < 2 or view.run.id not in view.order:
        return []
    return [(f"run {view.order.index(view.run.id) + 1:,} of {len(view.order):,} · H/L", "$text-muted")]
