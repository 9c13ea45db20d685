"""The text of a file, or what there is to know of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.cases.files import Node, Repository
from workbench.app.cases.listing import CaseEntry, sources_of
from workbench.app.key_table import key_of, with_keys
from workbench.app.keys import bindings
from workbench.app.toolkit.document import Document, Line, of_lines, styled
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.typed_line import FindLine, ask_line
from workbench.app.toolkit.virtual_view import Part
from workbench.results.scores import AgentScore
from workbench.text import clean, one_line, shortened

if TYPE_CHECKING:
    from workbench.repository.functions import OutlineItem


_LONGEST_NAME = 30
"""Cells for an agent's name beside its score: that of one over A2A is an address."""


class FileView(TextPane):
    """A text pane with the keys of a pager."""

    BINDINGS = bindings("file")

    @property
    def followed(self) -> str:
        return self.needle

    def follow(self, text: str) -> None:
        self.find(text)
        self.go_to_next_hit(1)

    def found_words(self, *, typing: bool) -> str:
        if not self.hits:
            return "nothing found" if self.needle else ""
        keys = "   {file.next-hit} next, {file.previous-hit} previous, {file.forget}: none marked"
        return f"{self.hit + 1:,} of {len(self.hits):,}{'' if typing else with_keys(keys)}"

    async def action_find(self) -> None:
        await ask_line(FindLine, self)

    def action_hit(self, step: int) -> None:
        self.go_to_next_hit(step)
        for line in self.screen.query(FindLine):
            line.say_count(self)

    def action_forget(self) -> None:
        self.find("")
        self.on_focus()

    def on_focus(self) -> None:
        for line in self.screen.query(FindLine):
            line.serve(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"hit", "forget"}:
            return bool(self.needle)
        return super().check_action(action, parameters)


def about(entry: CaseEntry, scores: tuple[AgentScore, ...] = ()) -> Document:
    """Return what there is to know of a case, ground truth included: people may see it, agents never do."""
    case = entry.case
    lines: list[Line] = [styled((case.name, "heading")), Line(clean(case.description), indent=0), Line("")]

    def fact(name: str, value: str, width: int = 14) -> None:
        if value:
            lines.append(styled((f"{name:<{width}}", "dim"), (clean(value), ""), indent=width))

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
        lines += [Line(""), styled(("Last scores in this session", "subheading"))]
        names = [shortened(score.agent, _LONGEST_NAME) for score in scores]
        width = max(14, *(len(name) + 2 for name in names))
        for name, score in zip(names, scores, strict=True):
            total = score.total
            points = f"{total.points:5.1f} / {total.out_of:g}" if total.points is not None else score.state
            own = f"{total.own[0]:5.1f} / {total.own[1]:.1f} own points, " if total.own else ""
            fact(name, own + points, width)
    lines += [Line(""), styled(("What an agent is told", "subheading")), Line(clean(case.agent_description)), Line("")]
    facts = case.facts
    if facts is not None:
        lines.append(styled(("Ground truth, hidden from agents", "subheading")))
        fact("purpose", facts.main_purpose)
        fact("dependencies", ", ".join(facts.dependencies) or "none")
        fact("run", facts.run_command)
        for number, feature in enumerate(facts.key_features):
            fact("" if number else "features", feature)
        fact("must mention", ", ".join(facts.must_mention))
    else:
        lines.append(styled(("No ground truth: tier 3 and parts of tier 4 stay unscored.", "unscored")))
    return of_lines(lines)


class RepositoryTree(RowList):
    """Folders are opened one by one, so a repository of ten thousand files is as quick as one of ten."""

    BINDINGS = bindings("tree")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.repository: Repository | None = None
        self._rows: list[tuple[int, Node]] = []
        self._open: set[str] = set()
        self._opened: tuple[set[str], list[tuple[int, Node]]] = set(), []  # before the tree was narrowed

    def show(self, repository: Repository | None) -> None:
        self.repository = repository
        self.narrowed = ""
        self._open = set()
        self._rows = [(0, node) for node in repository.children[""]] if repository else []
        self.rows_changed(cursor=0)

    @property
    def node(self) -> Node | None:
        return self._rows[self.cursor][1] if 0 <= self.cursor < len(self._rows) else None

    def row_count(self) -> int:
        return len(self._rows)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        depth, node = self._rows[index]
        lead = " " + "  " * depth + (("▾ " if node.path in self._open else "▸ ") if node.folder else "  ")
        right = "" if node.folder else f"{node.size:,}"
        note = " hidden" if node.hidden and width >= 34 else " ×" if node.hidden else ""
        room = max(4, width - len(lead) - len(right) - len(note) - 1)
        name = fit(one_line(node.name, 200) + ("/" if node.folder else ""), room)
        return [(lead, "dim"), (name, "hidden" if node.hidden else ""), (note, "hidden"), (" " + right, "dim")]

    def narrow(self, text: str) -> None:
        repository, before = self.repository, self.node
        if repository is not None and bool(text.strip()) != bool(self.narrowed):
            if text.strip():
                self._opened = set(self._open), self._rows
                every = sorted(
                    (node for nodes in repository.children.values() for node in nodes), key=lambda node: node.path
                )
                self._open, self._rows = set(), [(0, replace(node, name=node.path)) for node in every]
                self.rows_changed(cursor=max(0, self._place(before.path if before is not None else "")))
            else:
                self._open, self._rows = self._opened
                self.narrowed = ""
                self.rows_changed(cursor=0)
                if before is not None:
                    self.reveal(before.path)
                self.post_message(self.Narrowed(self))
                return
        super().narrow(text)

    def _place(self, path: str) -> int:
        return next((at for at, (_, node) in enumerate(self._rows) if node.path == path), -1)

    def words_of(self, index: int) -> str:
        return self._rows[index][1].path

    def _toggle(self, index: int, opened: bool) -> None:
        depth, node = self._rows[index]
        if not node.folder or self.repository is None or self.narrowed or (node.path in self._open) == opened:
            return
        if opened:
            self._open.add(node.path)
            below = [(depth + 1, child) for child in self.repository.children[node.path]]
            self._rows[index + 1 : index + 1] = below
        else:
            end = index + 1
            while end < len(self._rows) and self._rows[end][0] > depth:
                self._open.discard(self._rows[end][1].path)
                end += 1
            self._open.discard(node.path)
            del self._rows[index + 1 : end]
        self.rows_changed()

    def action_open(self) -> None:
        node = self.node
        if node is None:
            return
        if node.folder and self.narrowed:
            self.narrow("")
            self._toggle(self.cursor, True)
        elif node.folder:
            self._toggle(self.cursor, node.path not in self._open)
        else:
            self.post_message(self.Chosen(self, self.cursor))

    def action_choose(self) -> None:
        self.action_open()

    def action_close(self) -> None:
        node = self.node
        if node is not None and node.folder and node.path in self._open:
            self._toggle(self.cursor, False)
            return
        depth = self._rows[self.cursor][0] if node is not None else 0
        if depth == 0:
            self.app.simulate_key("shift+tab")
            return
        at = self.cursor
        while at >= 0 and self._rows[at][0] >= depth:
            at -= 1
        self.set_cursor(at)

    def action_expand_all(self) -> None:
        for index in range(len(self._rows) - 1, -1, -1):
            if len(self._rows) < 5000:
                self._toggle(index, True)

    def reveal(self, path: str) -> bool:
        if self.narrowed:
            self.narrow("")
        parts = path.split("/")
        for depth in range(len(parts)):
            wanted = "/".join(parts[: depth + 1])
            at = self._place(wanted)
            if at < 0:
                return False
            if depth < len(parts) - 1:
                self._toggle(at, True)
            else:
                self.set_cursor(at)
        return True


class Outline(RowList):
    """Classes and functions of the file that is shown; moving goes there."""

    BINDINGS = bindings("outline")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.items: tuple[OutlineItem, ...] = ()

    def show(self, items: tuple[OutlineItem, ...]) -> None:
        self.items = items
        self.rows_changed(cursor=0)

    def row_count(self) -> int:
        return len(self.items)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        item = self.items[index]
        glyph = "C " if item.kind == "class" else "ƒ "
        lead = " " + "  " * item.depth
        line = str(item.start_line)
        text = one_line(item.signature or item.name, 300).removeprefix("def ").removeprefix("class ")
        room = max(4, width - len(lead) - 2 - len(line) - 1)
        return [(lead, ""), (glyph, "group"), (fit(text, room), ""), (f" {line}", "dim")]
