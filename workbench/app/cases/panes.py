"""The panes of the Cases mode: the cases, the files of a case, and the text of a file with its outline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.app.cases.files import GROUPS, TITLES, CaseEntry, CaseFiles, Node, sources_of
from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.toolkit.document import TextDocument, TextLine, of_lines, styled
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.typed_line import FindLine, ask_line
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import RUNNING, STATES, UNSCORED, WAITING
from workbench.base.text import clean, one_line, shortened
from workbench.results.scores import AgentScore, standing

if TYPE_CHECKING:
    from workbench.repository.functions import OutlineItem


_BARS = "▁▂▃▄▅▆▇█"
_STANDING = {"good": "good", "middling": "warn", "poor": "poor"}


class CaseList(RowList):
    """The cases, two lines each, under group headings; a new run uses the marked cases."""

    BINDINGS = bindings("cases/list")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[CaseEntry | str | None] = []  # None for the second line of a case
        self.scores: dict[str, tuple[AgentScore, ...]] = {}
        self.marked: list[str] = []

    def show(self, entries: Sequence[CaseEntry]) -> None:
        current = self.entry.key if self.entry is not None else ""
        rows: list[CaseEntry | str | None] = []
        for group in dict.fromkeys((*GROUPS, *(entry.case.kind for entry in entries))):
            members = [entry for entry in entries if entry.case.kind == group]
            if members:
                rows.append(f"{TITLES.get(group, group)} {len(members)}")
                for member in members:
                    rows += [member, None]
        self.rows = rows
        self.rows_changed(cursor=max(0, self._place(current)))

    def _place(self, key: str) -> int:
        return next((at for at, row in enumerate(self.rows) if isinstance(row, CaseEntry) and row.key == key), -1)

    @property
    def entries(self) -> list[CaseEntry]:
        return [row for row in self.rows if isinstance(row, CaseEntry)]

    @property
    def entry(self) -> CaseEntry | None:
        row = self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None
        return row if isinstance(row, CaseEntry) else None

    @property
    def chosen(self) -> list[CaseEntry]:
        marked = [entry for entry in self.entries if entry.key in self.marked]
        return marked or ([self.entry] if self.entry else [])

    def go_to_key(self, key: str) -> None:
        if (at := self._place(key)) >= 0:
            self.set_cursor(at)

    def row_count(self) -> int:
        return len(self.rows)

    def selectable(self, index: int) -> bool:
        return isinstance(self.rows[index], CaseEntry)

    def words_of(self, index: int) -> str:
        row = self.rows[index]
        if not isinstance(row, CaseEntry):
            return ""
        case = row.case
        return f"{case.id} {case.name} {case.kind} {case.domain} {case.language} {case.description}"

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        row = self.rows[index]
        if isinstance(row, str):
            return [(f" {row}", "group")]
        if row is None:
            above = self.rows[index - 1]
            about = f"{above.case.domain} · {above.case.language}" if isinstance(above, CaseEntry) else ""
            return [("    " + fit(about.strip(" ·"), width - 5), "dim")]
        mark = "■ " if row.key in self.marked else "  "
        right = self._right(row)
        room = width - 2 - len(mark) - sum(len(text) for text, _ in right)
        return [(" ", ""), (mark, "marked"), (fit(row.case.name, room), ""), (" ", ""), *right]

    def _right(self, entry: CaseEntry) -> list[Part]:
        scores = self.scores.get(entry.key, ())
        if not scores:
            return [("" if entry.fetched else "↓ fetch", "dim")]
        bars: list[Part] = [_bar(score) for score in scores[:4]]
        points = [score.share for score in scores if score.share is not None]
        best = f"{max(points) * 100:3.0f}" if points else "  –"
        return [*bars, (" ", ""), (best, "score")]

    def action_mark(self) -> None:
        if self.entry is not None:
            self.toggle_marked(self.marked, self.entry.key)

    def action_mark_all(self) -> None:
        keys = [entry.key for entry in self.entries if entry.case.kind != "own"] or [e.key for e in self.entries]
        self.marked = [] if set(keys) <= set(self.marked) else keys
        self.refresh()
        self.post_message(self.RowHighlighted(self, self.cursor))


def _bar(score: AgentScore) -> Part:
    if score.state == "running":
        return RUNNING, "running"
    if score.share is None:
        sign = UNSCORED if score.state == "done" else STATES.get(score.state, WAITING)
        return sign, {"failed": "failed", "interrupted": "paused"}.get(score.state, "waiting")
    return _BARS[min(7, int(score.share * 8))], _STANDING[standing(score.share)]


_LONGEST_NAME = 30
"""Maximum width of the name of an agent beside its score; the name of an A2A agent is its address."""


class FileView(TextPane):
    """A text pane with the key bindings of a pager."""

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
            line.show_count(self)

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


def about(entry: CaseEntry, scores: tuple[AgentScore, ...] = ()) -> TextDocument:
    """Return the details of a case, including the ground truth, which users may see but agents never do."""
    case = entry.case
    lines: list[TextLine] = [styled((case.name, "heading")), TextLine(clean(case.description), indent=0), TextLine("")]

    def fact(name: str, value: str, width: int = 14) -> None:
        if value:
            lines.append(styled((f"{name:<{width}}", "dim"), (clean(value), ""), indent=width))

    fact("kind", case.kind)
    fact("domain", case.domain)
    fact("language", case.language)
    fact("license", case.license or "")
    for number, source in enumerate(sources_of(case)):
        # Show the folder only for the user's own cases.
        if not source.startswith("folder:") or case.kind == "own":
            fact("source" if number == 0 else "or", source)
    fact("files", "here" if entry.fetched else f"not fetched yet: press {key_of('cases.fetch')}")
    fact("tests", "; ".join(case.test))
    if scores:
        lines += [TextLine(""), styled(("Last scores in this session", "subheading"))]
        names = [shortened(score.agent, _LONGEST_NAME) for score in scores]
        width = max(14, *(len(name) + 2 for name in names))
        for name, score in zip(names, scores, strict=True):
            total = score.total
            points = f"{total.points:5.1f} / {total.out_of:g}" if total.points is not None else score.state
            own = f"{total.own[0]:5.1f} / {total.own[1]:.1f} own points, " if total.own else ""
            fact(name, own + points, width)
    lines += [
        TextLine(""),
        styled(("Description for agents", "subheading")),
        TextLine(clean(case.agent_description)),
        TextLine(""),
    ]
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
    """The files of a case; when narrowed, files in closed folders are listed as well, by their full paths."""

    BINDINGS = bindings("tree")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.repository: CaseFiles | None = None
        self._listed: Sequence[Node] = ()
        self._open: set[str] = set()

    def show(self, repository: CaseFiles | None) -> None:
        self.repository, self.narrowed, self._open = repository, "", set()
        self._listed = repository.nodes if repository is not None else ()
        self.rows_changed(cursor=0)

    @property
    def node(self) -> Node | None:
        return self._listed[self.cursor] if 0 <= self.cursor < len(self._listed) else None

    def row_count(self) -> int:
        return len(self._listed)

    def words_of(self, index: int) -> str:
        return self._listed[index].path

    def _find_visible(self) -> None:
        super()._find_visible()
        if self._visible is None:
            self._visible, deepest = [], 0
            for index, node in enumerate(self._listed):
                if node.depth <= deepest:
                    self._visible.append(index)
                    deepest = node.depth + (node.path in self._open)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        node = self._listed[index]
        arrow = ("▾ " if node.path in self._open and not self.narrowed else "▸ ") if node.folder else "  "
        lead = " " + "  " * (0 if self.narrowed else node.depth) + arrow
        right = "" if node.folder else f"{node.size:,}"
        note = " hidden" if node.hidden and width >= 34 else " ×" if node.hidden else ""
        room = max(4, width - len(lead) - len(right) - len(note) - 1)
        name = one_line(node.path if self.narrowed else node.name, 200) + ("/" if node.folder else "")
        return [
            (lead, "dim"),
            (fit(name, room), "hidden" if node.hidden else ""),
            (note, "hidden"),
            (" " + right, "dim"),
        ]

    def narrow(self, text: str) -> None:
        if not text.strip() and self.node is not None:
            self._open_around(self.node.path)
        super().narrow(text)

    def _open_around(self, path: str) -> None:
        parts = path.split("/")
        self._open |= {"/".join(parts[:depth]) for depth in range(1, len(parts))}

    def action_open(self) -> None:
        node = self.node
        if node is not None and not node.folder:
            self.post_message(self.RowSelected(self, self.cursor))
        elif node is not None:
            self._open ^= {node.path}
            if self.narrowed:
                self._open.add(node.path)
                self.narrow("")
            self.rearranged()

    action_choose = action_open

    def action_close(self) -> None:
        node = self.node
        if node is None or (node.depth == 0 and node.path not in self._open) or self.narrowed:
            self.app.simulate_key("shift+tab")
        elif node.path in self._open:
            self._open.discard(node.path)
            self.rearranged()
        else:
            self.set_cursor(next(at for at in range(self.cursor, -1, -1) if self._listed[at].depth < node.depth))

    def action_expand_all(self) -> None:
        if self._visible is not None and len(self._visible) < 5000 and not self.narrowed:
            self._open |= {self._listed[index].path for index in self._visible if self._listed[index].folder}
            self.rearranged()

    def reveal(self, path: str) -> bool:
        at = next((at for at, node in enumerate(self._listed) if node.path == path), -1)
        if at >= 0:
            self._open_around(path)
            self.narrow("")
            self.rearranged()
            self.set_cursor(at)
        return at >= 0


class Outline(RowList):
    """The classes and functions of the shown file; moving the cursor scrolls the file to them."""

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
