"""One line that keeps all evaluators and runs of a session in sight: which is shown, which others there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.key_table import key_of
from workbench.app.regeneration.evaluators import short_names
from workbench.app.regeneration.loading import RunView
from workbench.app.regeneration.standings import MOST_RUNS, Standings
from workbench.app.regeneration.wording import share
from workbench.session.groups import Group
from workbench.text import shortened

if TYPE_CHECKING:
    from workbench.regeneration.passk import Estimate

_Piece = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Form:
    """How much is said of each evaluator.

    Attributes:
        detail: 1 has pass@k, 2 its interval too.
        complete: Whether a count of samples is said where none is missing.
        longest: Characters that a name may have.
    """

    detail: int
    complete: bool
    longest: int


_FORMS = (
    _Form(2, True, 100),
    _Form(1, True, 100),
    _Form(1, False, 100),
    _Form(1, False, 24),
    _Form(1, False, 16),
    _Form(0, True, 100),
    _Form(0, False, 16),
)


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
    standings: reactive[Standings] = reactive(Standings())
    begun: reactive[str] = reactive("")  # a run that began elsewhere and was not looked at

    def watch_view(self, view: RunView | None) -> None:
        self.set_class(view is not None and (len(view.progress) > 1 or len(view.order) > 1), "-open")

    def render(self) -> RenderResult:
        view = self.view
        if view is None:
            return Content("")
        left, right = self._fitting(view)
        gap = self.size.width - left.cell_length - right.cell_length
        if gap < 2:
            return (left if len(view.progress) > 1 else right).truncate(self.size.width, ellipsis=True)
        return Content.assemble(left, " " * gap, right)

    def _fitting(self, view: RunView) -> tuple[Content, Content]:
        """Return both sides in the most telling form that has room.

        Intervals go first, then the runs' names, counts of samples that are all there, the middles of names, and pass@k last.
        """
        sides = [(Content(""), Content(""))]
        for form, names in ((_FORMS[0], True), (_FORMS[1], True), *((form, False) for form in _FORMS[1:])):
            left = Content.assemble(*(piece for _, pieces in self._evaluators(view, form) for piece in pieces))
            right = Content.assemble(*_runs(view, self.standings, self.begun, names=names))
            sides.append((left, right))
            if left.cell_length + right.cell_length + 2 <= self.size.width:
                break
        return sides[-1]

    def _evaluators(self, view: RunView, form: _Form) -> list[tuple[Group | None, list[_Piece]]]:
        """Return the pieces of the line by group (None for what belongs to none)."""
        if len(view.progress) < 2:
            return []
        found: list[tuple[Group | None, list[_Piece]]] = [(None, [("evaluators ", "$text-muted")])]
        for one, name in zip(view.progress, short_names(view.progress), strict=True):
            value = _value(self.standings.estimates.get(one.group), form.detail) if one.group is not None else ""
            progress = f"{one.decided:,}/{one.total:,}" if one.total else "·"
            if value and not form.complete and one.decided == one.total:
                progress = ""
            said = " ".join(filter(None, (shortened(name, form.longest), value, progress)))
            current = one.group == view.group
            found.append((one.group, [(f"[{said}]", "bold $primary") if current else (f" {said} ", "$text-muted")]))
        return [*found, (None, [(f" {key_of('regeneration.evaluator')} next", "$text-muted")])]

    def on_click(self, event: events.Click) -> None:
        x = 1
        for group, pieces in self._shown_evaluators():
            x += sum(Content(text).cell_length for text, _ in pieces)
            if event.x < x:
                if group is not None:
                    self.post_message(self.Chosen(group))
                return

    def _shown_evaluators(self) -> list[tuple[Group | None, list[_Piece]]]:
        view = self.view
        if view is None:
            return []
        shown = self._fitting(view)[0].plain
        forms = (self._evaluators(view, form) for form in _FORMS)
        return next((one for one in forms if "".join(text for _, of in one for text, _ in of) == shown), [])


def _value(estimate: Estimate | None, detail: int) -> str:
    if estimate is None or estimate.value is None or not detail:
        return ""
    bounds = (
        f" ({estimate.low:.2f}–{estimate.high:.2f})" if estimate.low is not None and estimate.high is not None else ""
    )
    return share(estimate.value) + (bounds if detail > 1 else "")


def _runs(view: RunView, standings: Standings, begun: str, *, names: bool) -> list[_Piece]:
    """Return the runs: by the docs that they test where that tells them apart, else the number of the one that is shown."""
    if len(view.order) < 2 or view.run.id not in view.order:
        return []
    same = [run for run in standings.runs if run.same_source]
    pieces: list[_Piece] = []
    if names and len(same) > 1 and len({run.docs for run in same}) == len(same) <= MOST_RUNS:
        pieces.append(("docs ", "$text-muted"))
        for run in same:
            said = " ".join(filter(None, (run.docs, _value(run.estimate, 1))))
            current = run.id == view.run.id
            pieces.append((f"[{said}]", "bold $primary") if current else (f" {said} ", "$text-muted"))
        pieces.append(("  ", ""))
    pieces.append((f"run {view.order.index(view.run.id) + 1:,} of {len(view.order):,} · H/L", "$text-muted"))
    if begun:
        pieces.append((f" ▸ another began: {key_of('regeneration.next-run')}", "bold $verdict-running"))
    return pieces
