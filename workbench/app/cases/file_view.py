"""The text of a file, or what there is to know of a case."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from workbench.app.cases.listing import AgentScore, CaseEntry, sources_of
from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.toolkit.document import Document, Line, Span
from workbench.app.toolkit.text_pane import TextPane
from workbench.text import clean, shortened

_LONGEST_NAME = 30
"""Cells for an agent's name beside its score: that of one over A2A is an address."""


class FileView(TextPane):
    """A text pane with the keys of a pager."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("file.down", "scroll_rows(1)", "Down", show=False),
        bind("file.up", "scroll_rows(-1)", "Up", show=False),
        bind("file.page-down", "scroll_pages(1)", "page down", show=False),
        bind("file.page-up", "scroll_pages(-1)", "page up", show=False),
        bind("file.top", "edge(False)", "Top", show=False),
        bind("file.end", "edge(True)", "End", show=False),
        bind("file.find", "find", "find in the text", show=False),
        bind("file.next-hit", "hit(1)", "next hit", show=False),
        bind("file.previous-hit", "hit(-1)", "previous hit", show=False),
        bind("file.forget", "forget", "no hits marked", show=False),
    ]

    def action_scroll_rows(self, rows: int) -> None:
        """Scroll by rows."""
        self.move(rows)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by pages."""
        self.move(pages * self.page_height())

    def action_edge(self, last: bool) -> None:
        """Go to the first or last row."""
        self.go_to_end(last)

    async def action_find(self) -> None:
        """Let a person type what to find; the first hit is shown with each letter."""
        from workbench.app.toolkit.find_line import ask_finding

        await ask_finding(self)

    def action_hit(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit."""
        from workbench.app.toolkit.find_line import FindLine

        self.go_to_next_hit(step)
        for line in self.screen.query(FindLine):
            line.say_count()

    def action_forget(self) -> None:
        """Mark no hits any more."""
        from workbench.app.toolkit.find_line import FindLine

        self.find("")
        for line in self.screen.query(FindLine):
            line.serve(self)

    def on_focus(self) -> None:
        """Show what is looked for in this text."""
        from workbench.app.toolkit.find_line import FindLine

        for line in self.screen.query(FindLine):
            line.serve(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys for hits to the screen where nothing is looked for."""
        if action in {"hit", "forget"}:
            return bool(self.needle)
        return super().check_action(action, parameters)


def about(entry: CaseEntry, scores: tuple[AgentScore, ...] = ()) -> Document:
    """Return what there is to know of a case, ground truth included: people may see it, agents never do.

    Args:
        entry: The case.
        scores: The newest score of each agent in the open session, in the order of the bars in the list.
    """
    case = entry.case
    lines: list[Line] = [_styled(case.name, "heading"), Line(clean(case.description), indent=0), Line("")]

    def fact(name: str, value: str, width: int = 14) -> None:
        if value:
            text = f"{name:<{width}}{clean(value)}"
            lines.append(Line(text, ((0, width, "dim"),), indent=width))

    fact("kind", case.kind)
    fact("domain", case.domain)
    fact("language", case.language)
    fact("license", case.license or "")
    for number, source in enumerate(sources_of(case)):
        # It is said where a folder of this machine is; a bundled case's folder is of no interest.
        if not source.startswith("folder:") or case.kind == "own":
            fact("source" if number == 0 else "or", source)
    fact("files", "here" if entry.fetched else f"not fetched yet: press {key_of('cases.fetch')}")
    fact("tests", "; ".join(case.test))
    if scores:
        lines += [Line(""), _styled("Last scores in this session", "subheading")]
        names = [shortened(score.agent, _LONGEST_NAME) for score in scores]
        width = max(14, *(len(name) + 2 for name in names))
        for name, score in zip(names, scores, strict=True):
            total = score.total
            points = f"{total.points:5.1f} / {total.out_of:g}" if total.points is not None else score.state
            own = f"{total.own[0]:5.1f} / {total.own[1]:.1f} own points, " if total.own else ""
            fact(name, own + points, width)
    lines += [Line(""), _styled("What an agent is told", "subheading"), Line(clean(case.agent_description)), Line("")]
    facts = case.facts
    if facts is not None:
        lines.append(_styled("Ground truth, hidden from agents", "subheading"))
        fact("purpose", facts.main_purpose)
        fact("dependencies", ", ".join(facts.dependencies) or "none")
        fact("run", facts.run_command)
        for number, feature in enumerate(facts.key_features):
            fact("features" if number == 0 else "", feature) if number == 0 else lines.append(
                Line(" " * 14 + clean(feature), indent=14)
            )
        fact("must mention", ", ".join(facts.must_mention))
    else:
        lines.append(_styled("No ground truth: tier 3 and parts of tier 4 stay unscored.", "unscored"))
    return Document(tuple(lines), "\n".join(line.text for line in lines))


def sentence(text: str, style: str = "dim") -> Document:
    """Return one sentence as a document."""
    lines = tuple(_styled(part, style) for part in clean(text).split("\n"))
    return Document(lines, text)


def _styled(text: str, style: str) -> Line:
    spans: tuple[Span, ...] = ((0, len(text), style),) if text else ()
    return Line(text, spans)
