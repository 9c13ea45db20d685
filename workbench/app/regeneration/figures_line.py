"""The lines above the table: pass@k first, then whether the run may be believed, and where its tests run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.regeneration.loading import RunView
from workbench.app.regeneration.wording import plural, share, sparkline
from workbench.glyphs import DOUBTFUL, VERDICTS
from workbench.results.tasks import Figures
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.regeneration.self_check import Control

_Piece = tuple[str, str]
_GAP = 3
_ALONE = "bold $background on $error"


class FiguresLine(Widget):
    """One line where there is room for all, else as many as it takes, three at most, and one on samples tested again."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    FiguresLine { height: auto; min-height: 1; max-height: 4; padding: 0 1; background: $background; }
    """

    view: reactive[RunView | None] = reactive(None, layout=True)
    figures: reactive[Figures | None] = reactive(None, layout=True)

    def render(self) -> RenderResult:
        width = max(1, self.size.width)
        lines = [Content.assemble(*line).truncate(width, ellipsis=True) for line in self._lines(width)]
        return Content("\n").join(lines)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines(max(1, width)))

    def _lines(self, width: int) -> list[list[_Piece]]:
        view = self.view
        if view is None:
            return [[]]
        return [*self._of(view, width), *_again(view)]

    def _of(self, view: RunView, width: int) -> list[list[_Piece]]:
        figures, leaks = _pass_at(view, self.figures), _joined(*_without(self.figures))
        proof, place, verdicts = _self_check(view), _sandbox(view), _verdicts(view)
        if leaks and _length(figures) + _length(leaks) + _GAP <= width:
            figures, leaks = [*figures, (" " * _GAP, ""), *leaks], []
        right = _joined(proof, place)
        if not leaks and _length(figures) + _length(right) + _GAP <= width:
            return [_apart(figures, right, width)]
        lines = [figures, leaks] if leaks else [figures]
        if _length(right) > width:
            return [*lines, proof if _length(proof) <= width else _self_check(view, short=True)]
        if _length(right) + _length(verdicts) + _GAP <= width:
            return [*lines, _apart(right, verdicts, width)]
        return [*lines, right]


def _again(view: RunView) -> list[list[_Piece]]:
    """Return the line on samples that are being tested again: what is shown of them is not new."""
    if not view.totals.again:
        return []
    said = f"{view.totals.again:,} of {plural(view.totals.samples, 'sample')} {'are being' if view.live else 'were to be'} tested again"
    return [[(said, "$verdict-running"), ("; until then their former verdicts, underlined, count", "$text-muted")]]


def _length(pieces: list[_Piece]) -> int:
    return sum(len(text) for text, _ in pieces)


def _joined(*groups: list[_Piece]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for group in groups:
        if group:
            pieces += [(" " * _GAP, ""), *group] if pieces else group
    return pieces


def _apart(left: list[_Piece], right: list[_Piece], width: int) -> list[_Piece]:
    return [*left, (" " * max(0, width - _length(left) - _length(right)), ""), *right]


def headline(figures: Figures | None) -> str:
    """Return the first pass@k for the header, "" while there is none."""
    first = figures.passing.pass_at[0] if figures is not None and figures.passing.pass_at else None
    return f"pass@{first.k} {share(first.value)}" if first is not None and first.value is not None else ""


def _pass_at(view: RunView, figures: Figures | None) -> list[_Piece]:
    if figures is None or not view.totals.samples:
        ended = "pass@k is being counted…" if view.totals.samples else "no samples"
        return [("pass@k comes with the first tested task" if view.live else ended, "$text-muted")]
    pieces: list[_Piece] = []
    for item in figures.passing.pass_at:
        pieces += [(f"pass@{item.k} ", "$text-muted"), (share(item.value), "bold $primary" if not pieces else "bold")]
        if item.k == figures.passing.pass_at[0].k and item.low is not None and item.high is not None:
            pieces.append((f" [{item.low:.2f}, {item.high:.2f}]", ""))
            over = item.interval.over if item.interval is not None else ""
            pieces.append((f" {over}", "$text-muted"))
        elif item.k == figures.passing.pass_at[0].k and item.interval is not None and item.value is not None:
            pieces.append((" no interval", "$text-muted"))
        if item.k == figures.passing.pass_at[0].k and len(figures.development) > 1:
            pieces.append((f" {sparkline(figures.development)}", "$secondary"))
        pieces.append(("  ", ""))
    pieces.append((f"m = {_drawn(view, figures)} · " if view.samples else "", "$text-muted"))
    if figures.passing.partial:
        pieces.append((f"{figures.passing.decided:,} of {figures.passing.tasks:,} tasks so far", "$verdict-running"))
    else:
        ready = view.tasks - view.excluded
        of_run = f"{figures.passing.tasks:,} of {plural(ready, 'task')}"
        pieces.append(
            (of_run, "$verdict-unscored")
            if figures.passing.tasks < ready
            else (plural(figures.passing.tasks, "task"), "$text-muted")
        )
    return pieces


def _drawn(view: RunView, figures: Figures) -> str:
    """Return how many samples of a task count, and of how many that were asked for where some are missing."""
    fewest, most = figures.passing.samples_per_task
    if figures.passing.partial or fewest >= view.samples:
        return str(view.samples)
    return (f"{fewest} to {most}" if fewest < most else str(fewest)) + f" of {view.samples}"


def _without(figures: Figures | None) -> list[list[_Piece]]:
    """Return pass@k of documented functions alone, without leaking tasks, and as if doubtful or repaired passes had failed."""
    if figures is None:
        return []
    found = []
    passing = figures.passing
    if passing.tasks and passing.documented < passing.tasks:
        share_of = f"{passing.documented:,}/{passing.tasks:,} with docstring"
        alone: list[_Piece] = [(share_of, "$text-muted")]
        if passing.documented:
            for item, value in zip(figures.passing.pass_at, passing.of_documented, strict=True):
                alone += [(f" @{item.k} ", "$text-muted"), (share(value), "bold")]
        found.append(alone)
    for count, what, values in (
        (figures.passing.leaking, f"without {figures.passing.leaking:,} leaking", figures.passing.without_leaking),
        (
            figures.passing.doubtful,
            f"without {figures.passing.doubtful:,} {DOUBTFUL} doubtful",
            figures.passing.without_doubtful,
        ),
        # These were not taken out: they count as failed, as if nobody had mended the answers.
        (passing.repaired, f"if {plural(passing.repaired, 'repaired answer')} had failed", passing.without_repairs),
    ):
        if count:
            pieces: list[_Piece] = [(what, "$text-muted")]
            for item, value in zip(figures.passing.pass_at, values, strict=True):
                pieces += [(f" @{item.k} ", "$text-muted"), (share(value), "bold")]
            found.append(pieces)
    if passing.cut:
        found.append([(f"{plural(passing.cut, 'answer')} cut at the token limit", "$verdict-unscored")])
    return found


def _self_check(view: RunView, short: bool = False) -> list[_Piece]:
    pieces: list[_Piece] = []
    if view.check.controls:
        holds = all(control.complete and not control.wrong for control in view.check.controls)
        pieces += [("✓ " if holds else "", "$verdict-passed"), ("self-check: ", "$text-muted")]
        for control in view.check.controls:
            pieces += [_control(control, view.live), (" · ", "$text-muted")]
        pieces.pop()
    elif view.totals.samples:
        pieces.append(("self-check not run", "$verdict-unscored"))
    rechecks = view.check.rechecks
    if rechecks.done:
        alarm = bool(rechecks.disagreeing)
        words = ("re-checks", "disagree") if short else ("cold re-checks", "disagreements")
        said = f"{words[0]} {rechecks.done:,}, {words[1]} {rechecks.disagreeing:,}"
        pieces += [
            ("   " if pieces else "", ""),
            (f" ✗ {said} " if alarm else said, _ALONE if alarm else "$text-muted"),
        ]
    return pieces


def _control(control: Control, live: bool) -> _Piece:
    said = f"{control.name} {control.passed:,}/{control.decided:,}"
    if control.wrong:
        return f" ✗ {said} ", _ALONE
    if control.complete:
        return f"{control.name} {control.passed:,}/{control.tasks:,}", "$verdict-passed"
    tested = f"{control.name} {control.passed:,}/{control.decided:,} of {control.tasks:,}"
    return (f"▸ {tested}", "$verdict-running") if live else (f"? {tested}", "$verdict-unscored")


def _sandbox(view: RunView) -> list[_Piece]:
    if not view.sandboxes:
        return []
    said = one_line(" + ".join(view.sandboxes), 60)
    if view.weaknesses:
        return [(" · ".join((said, *view.weaknesses)), "bold $warning")]
    return [(f"{said} · no network", "$text-muted")]


def _verdicts(view: RunView) -> list[_Piece]:
    pieces: list[_Piece] = []
    for name, glyph in VERDICTS.items():
        count = view.totals.verdicts.get(name, 0)
        if count:
            style = "unscored" if name == "error" else name
            pieces += [(f"{glyph} {count:,}", f"$verdict-{style}"), ("  ", "")]
    return pieces[:-1]
