"""The line above the table: pass@k first, then how it came about, whether the controls hold, and where tests run."""

from __future__ import annotations

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.regeneration.figures import Figures
from workbench.app.regeneration.loading import Control, RunView
from workbench.app.regeneration.wording import VERDICTS, plural, share, sparkline

_Piece = tuple[str, str]


class FiguresLine(Widget):
    """One line where there is room for all, else two."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    FiguresLine { height: auto; min-height: 1; max-height: 2; padding: 0 1; background: $background; }
    """

    view: reactive[RunView | None] = reactive(None, layout=True)
    figures: reactive[Figures | None] = reactive(None, layout=True)

    def render(self) -> RenderResult:
        """Return the line or the two lines."""
        view = self.view
        if view is None:
            return Content("")
        left = _pass_at(view, self.figures)
        right = [*_controls(view), ("   ", ""), *_sandbox(view)]
        width = max(1, self.size.width)
        gap = width - _length(left) - _length(right)
        if gap >= 3:
            return Content.assemble(*left, " " * gap, *right)
        verdicts = _verdicts(view)
        gap = width - _length(right) - _length(verdicts)
        second = [*right, (" " * max(2, gap), ""), *verdicts] if gap >= 2 else right
        return Content.assemble(
            Content.assemble(*left).truncate(width, ellipsis=True),
            "\n",
            Content.assemble(*second).truncate(width, ellipsis=True),
        )

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return 1, or 2 where one line is too short."""
        if self.view is None:
            return 1
        right = _length([*_controls(self.view), *_sandbox(self.view)]) + 3
        return 1 if width - _length(_pass_at(self.view, self.figures)) - right >= 3 else 2


def _length(pieces: list[_Piece]) -> int:
    return sum(len(text) for text, _ in pieces)


def _pass_at(view: RunView, figures: Figures | None) -> list[_Piece]:
    if figures is None or not view.total:
        return [("pass@k comes with the first tested task" if view.live else "no samples", "$text-muted")]
    pieces: list[_Piece] = []
    for item in figures.pass_at:
        pieces += [(f"pass@{item.k} ", "$text-muted"), (share(item.value), "bold $primary" if not pieces else "bold")]
        if item.low is not None and item.high is not None:
            pieces.append((f" [{item.low:.2f}, {item.high:.2f}]", ""))
        if item.k == figures.pass_at[0].k and len(figures.development) > 1:
            pieces.append((f" {sparkline(figures.development)}", "$secondary"))
        pieces.append(("   ", ""))
    if figures.partial:
        pieces.append((f"{figures.decided:,} of {figures.tasks:,} tasks so far", "$verdict-running"))
    else:
        pieces.append((plural(figures.tasks, "task"), "$text-muted"))
    if figures.leaking:
        pieces.append((f"   without {figures.leaking:,} leaking {share(figures.unleaked)}", "$text-muted"))
    return pieces


def _controls(view: RunView) -> list[_Piece]:
    if not view.controls:
        return [("controls not run", "$text-muted")] if view.total else [("", "")]
    pieces: list[_Piece] = [("controls ", "$text-muted")]
    for control in view.controls:
        pieces += [*_control(control, view.live), (" ", "")]
    return pieces[:-1]


def _control(control: Control, live: bool) -> list[_Piece]:
    value = f"{control.passed / control.decided:.2f}" if control.decided else ""
    value = value.replace("1.00", "1.0").replace("0.00", "0.0") if not control.wrong else value
    if control.wrong:
        # A share that rounds to what it should be would look as if the control held.
        return [(f" ✗ {control.name} {value} WRONG ON {control.wrong:,} ", "bold $background on $error")]
    if control.decided < control.tasks:
        glyph, style = ("▸", "$verdict-running") if live else ("?", "$verdict-unscored")
        return [(f"{glyph} {control.name} {control.decided:,} of {control.tasks:,}", style)]
    return [(f"✓ {control.name} {value}", "$verdict-passed")]


def _sandbox(view: RunView) -> list[_Piece]:
    if not view.sandbox:
        return [("", "")]
    if view.sandbox == "process":
        return [("process · NOT isolated", "bold $warning")]
    return [(f"{view.sandbox} · no network", "$text-muted")]


def _verdicts(view: RunView) -> list[_Piece]:
    pieces: list[_Piece] = []
    for name, glyph in VERDICTS.items():
        count = view.verdicts.get(name, 0)
        if count:
            style = "unscored" if name == "error" else name
            pieces += [(f"{glyph} {count:,}", f"$verdict-{style}"), ("  ", "")]
    return pieces[:-1]
