"""The lines above the table, with pass@k, the self-check, evaluators and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from workbench.app.keys import key_of
from workbench.app.regeneration.evaluator_results import EvaluatorResults
from workbench.app.regeneration.wording import short_names, sparkline, words_of
from workbench.base.glyphs import VERDICTS
from workbench.base.text import one_line, plural, share, shortened
from workbench.results.regeneration_runs import RunView
from workbench.results.tasks import Figures
from workbench.session.groups import Group

if TYPE_CHECKING:
    from workbench.regeneration.passk import PassEstimate
    from workbench.regeneration.self_check import ControlCounts

_GAP = " " * 3
_ALONE = "bold $background on $error"
_MUTED = "$text-muted"


class FiguresLine(Widget):
    """Up to three lines with pass@k, the self-check and verdicts, and a line on samples that are being retested."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    FiguresLine { height: auto; min-height: 1; max-height: 4; padding: 0 1; background: $background; }
    """

    view: reactive[RunView | None] = reactive(None, layout=True)
    figures: reactive[Figures | None] = reactive(None, layout=True)

    def render(self) -> RenderResult:
        width = max(1, self.size.width)
        return Content("\n").join(line.truncate(width, ellipsis=True) for line in self._lines(width))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines(max(1, width)))

    def _lines(self, width: int) -> list[Content]:
        view = self.view
        if view is None:
            return [Content("")]
        figures = _pass_at(view, self.figures)
        leaks = _joined(*_otherwise(self.figures)) if self.figures is not None else Content("")
        proof, verdicts = _self_check(view), _verdicts(view)
        if leaks and _fit(figures, leaks, width):
            figures, leaks = _joined(figures, leaks), Content("")
        right = _joined(proof, _sandbox(view))
        if not leaks and _fit(figures, right, width):
            lines = [_apart(figures, right, width)]
        else:
            lines = [figures, leaks] if leaks else [figures]
            if right.cell_length > width:
                lines.append(proof if proof.cell_length <= width else _self_check(view, short=True))
            else:
                lines.append(_apart(right, verdicts, width) if _fit(right, verdicts, width) else right)
        if view.totals.retesting:
            # These samples have verdicts from before the retest, which count until it ends.
            of, going = plural(view.totals.samples, "sample"), "are being" if view.live else "were to be"
            text = (f"{view.totals.retesting:,} of {of} {going} tested again", "$verdict-running")
            lines.append(Content.assemble(text, ("; until then their former verdicts, underlined, count", _MUTED)))
        return lines


def _fit(left: Content, right: Content, width: int) -> bool:
    return left.cell_length + right.cell_length + len(_GAP) <= width


def _joined(*parts: Content) -> Content:
    return Content(_GAP).join([part for part in parts if part])


def _apart(left: Content, right: Content, width: int) -> Content:
    return Content.assemble(left, " " * max(0, width - left.cell_length - right.cell_length), right)


def headline(view: RunView, figures: Figures | None) -> str:
    """Return the first pass@k for the header, or "" if there is none yet."""
    first = figures.passing.pass_at[0] if figures is not None and figures.passing.pass_at else None
    return (
        f"{words_of(view).figure}@{first.k} {share(first.value)}"
        if first is not None and first.value is not None
        else ""
    )


def _pass_at(view: RunView, figures: Figures | None) -> Content:
    name = words_of(view).figure
    if figures is None or not view.totals.samples:
        ended = f"counting {name}@k…" if view.totals.samples else "no samples"
        return Content.styled(f"{name}@k appears once the first task is tested" if view.live else ended, _MUTED)
    passing = figures.passing
    pieces: list[tuple[str, str]] = []
    for at, item in enumerate(passing.pass_at):
        pieces += [(f"{name}@{item.k} ", _MUTED), (share(item.value), "bold" if at else "bold $primary")]
        if not at and item.low is not None and item.high is not None:
            over = item.interval.over if item.interval is not None else ""
            pieces += [(f" [{item.low:.2f}, {item.high:.2f}]", ""), (f" {over}", _MUTED)]
        elif not at and item.interval is not None and item.value is not None:
            pieces.append((" no interval", _MUTED))
        if not at and len(figures.development) > 1:
            pieces.append((f" {sparkline(figures.development)}", "$secondary"))
        pieces.append(("  ", ""))
    drawn = str(view.samples) if passing.partial else passing.samples_text(view.samples)
    pieces.append((f"m = {drawn} · " if view.samples else "", _MUTED))
    ready = view.tasks - view.excluded
    if passing.partial:
        pieces.append((f"{passing.decided:,} of {passing.tasks:,} tasks so far", "$verdict-running"))
    elif passing.tasks < ready:
        pieces.append((f"{passing.tasks:,} of {plural(ready, 'task')}", "$verdict-unscored"))
    else:
        pieces.append((plural(passing.tasks, "task"), _MUTED))
    return Content.assemble(*pieces)


def _otherwise(figures: Figures) -> Iterator[Content]:
    passing = figures.passing
    if figures.use is not None:
        page, used = figures.use
        yield from (Content.assemble((f"{label} ", _MUTED), value) for label, value in used.beside(page))
        return
    for words, values in passing.variants:
        named = zip(passing.pass_at, values, strict=False)
        at = [((f" @{one.k} ", _MUTED), (share(value), "bold")) for one, value in named]
        yield Content.assemble((words, _MUTED), *(piece for pair in at for piece in pair))


def _self_check(view: RunView, short: bool = False) -> Content:
    check, proof, again = view.check, Content(""), Content("")
    if check.controls:
        holds = all(control.complete and not control.wrong for control in check.controls)
        controls = Content.styled(" · ", _MUTED).join([_control(control, view.live) for control in check.controls])
        proof = Content.assemble(("✓ " if holds else "", "$verdict-passed"), ("self-check: ", _MUTED), controls)
    elif view.totals.samples:
        proof = Content.styled("self-check not run", "$verdict-unscored")
    if check.rechecks.done:
        words = ("re-checks", "disagree") if short else ("cold re-checks", "disagreements")
        text = f"{words[0]} {check.rechecks.done:,}, {words[1]} {check.rechecks.disagreeing:,}"
        again = Content.styled(*((f" ✗ {text} ", _ALONE) if check.rechecks.disagreeing else (text, _MUTED)))
    return _joined(proof, again)


def _control(control: ControlCounts, live: bool) -> Content:
    text = f"{control.name} {control.passed:,}/{control.decided:,}"
    if control.wrong:
        return Content.styled(f" ✗ {text} ", _ALONE)
    if control.complete:
        return Content.styled(f"{control.name} {control.passed:,}/{control.tasks:,}", "$verdict-passed")
    sign, style = ("▸", "$verdict-running") if live else ("?", "$verdict-unscored")
    return Content.styled(f"{sign} {text} of {control.tasks:,}", style)


def _sandbox(view: RunView) -> Content:
    if not view.sandboxes:
        return Content("")
    text = one_line(" + ".join(view.sandboxes), 60)
    if view.weaknesses:
        return Content.styled(" · ".join((text, *view.weaknesses)), "bold $warning")
    return Content.styled(f"{text} · no network", _MUTED)


def _verdicts(view: RunView) -> Content:
    counts = {name: view.totals.verdicts.get(name, 0) for name in VERDICTS}
    styles = {name: f"$verdict-{'unscored' if name == 'error' else name}" for name in VERDICTS}
    texts = [Content.styled(f"{VERDICTS[name]} {count:,}", styles[name]) for name, count in counts.items() if count]
    return Content("  ").join(texts)


# -- evaluators and runs

_FORMS = (
    (2, True, 100, True), (1, True, 100, True), (1, True, 100, False), (1, False, 100, False), (1, False, 24, False),
    (1, False, 16, False), (0, True, 100, False), (0, False, 16, False),
)  # fmt: skip
"""The variants of the line, from longest to shortest.

Each has the level of detail (1 shows pass@k, 2 also its interval), whether complete sample counts are shown, the
maximum length of a name, and whether runs are named.
"""


class EvaluatorLine(Widget):
    """The evaluators and runs, as in ``evaluators [gpt-5-mini 12/12]  local 3/20  v`` and ``run 1 of 2 · H/L``.

    The line is hidden if there is at most one of each.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    EvaluatorLine { height: 1; padding: 0 1; display: none; background: $surface; }
    EvaluatorLine.-open { display: block; }
    """

    class EvaluatorSelected(Message):
        """Posted when the name of an evaluator is clicked."""

        def __init__(self, group: Group) -> None:
            super().__init__()
            self.group = group

    view: reactive[RunView | None] = reactive(None)
    results: reactive[EvaluatorResults] = reactive(EvaluatorResults())

    def watch_view(self, view: RunView | None) -> None:
        self.set_class(view is not None and (len(view.progress) > 1 or len(view.order) > 1), "-open")

    def render(self) -> RenderResult:
        view, width = self.view, self.size.width
        if view is None:
            return Content("")
        left = right = Content("")
        for detail, complete, longest, names in _FORMS:
            left = self._evaluators(view, detail, complete, longest)
            right = self._runs(view, names)
            if left.cell_length + right.cell_length + 2 <= width:
                return Content.assemble(left, " " * (width - left.cell_length - right.cell_length), right)
        return (left if len(view.progress) > 1 else right).truncate(width, ellipsis=True)

    def _evaluators(self, view: RunView, detail: int, complete: bool, longest: int) -> Content:
        if len(view.progress) < 2:
            return Content("")
        pieces = [Content.styled(f"{words_of(view).evaluators} ", _MUTED)]
        for at, (one, name) in enumerate(zip(view.progress, short_names(view.progress), strict=True)):
            value = _value(self.results.estimates.get(one.group), detail) if one.group is not None else ""
            progress = f"{one.decided:,}/{one.total:,}" if one.total else "·"
            if value and not complete and one.decided == one.total:
                progress = ""
            text = _chosen((shortened(name, longest), value, progress), one.group == view.group)
            pieces.append(text.stylize(Style.from_meta({"evaluator": at})))
        return Content.assemble(*pieces, (f" {key_of('regeneration.evaluator')} next", _MUTED))

    def _runs(self, view: RunView, names: bool) -> Content:
        """Return the runs, named by their docs if these differ, and the number of the displayed run."""
        if len(view.order) < 2 or view.run.id not in view.order:
            return Content("")
        pieces: list[Content | tuple[str, str]] = []
        if names and self.results.runs:
            runs = self.results.runs.items()
            named = (_chosen((docs, _value(estimate, 1)), run == view.run.id) for run, (docs, estimate) in runs)
            pieces += [("docs ", _MUTED), *named, ("  ", "")]
        pieces.append((f"run {view.order.index(view.run.id) + 1:,} of {len(view.order):,} · H/L", _MUTED))
        return Content.assemble(*pieces)

    def on_click(self, event: events.Click) -> None:
        at = event.style.meta.get("evaluator")
        group = self.view.progress[at].group if self.view is not None and at is not None else None
        if group is not None:
            self.post_message(self.EvaluatorSelected(group))


def _chosen(parts: Sequence[str], current: bool) -> Content:
    text = " ".join(filter(None, parts))
    return Content.styled(f"[{text}]", "bold $primary") if current else Content.styled(f" {text} ", _MUTED)


def _value(estimate: PassEstimate | None, detail: int) -> str:
    if estimate is None or estimate.value is None or not detail:
        return ""
    known = detail > 1 and estimate.low is not None and estimate.high is not None
    return share(estimate.value) + (f" ({estimate.low:.2f}–{estimate.high:.2f})" if known else "")
