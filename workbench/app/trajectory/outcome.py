"""The outcome of a trial.

The README, metadata, exploration, and diff to the previous trial are documents; grounding, check and use are lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.widget import Widget

from workbench.app.keys import with_keys
from workbench.app.toolkit import document as doc
from workbench.app.toolkit.pane import COPIED_AT_MOST, ScrollTarget, TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.trajectory import grounding_list as wording
from workbench.app.trajectory import markdown
from workbench.app.trajectory.check_list import CheckList, ShownCheck, load_check
from workbench.app.trajectory.grounding_list import GroundingList
from workbench.app.trajectory.step_content import cut_of
from workbench.app.trajectory.trial_state import TrialState, state_of, why_not
from workbench.app.trajectory.use_list import UseList, brief
from workbench.comparison.texts import Texts, line_diff, line_diff_words
from workbench.pages import page

if TYPE_CHECKING:
    from workbench.grounding import Why
    from workbench.session.reader import SessionReader

TABS = ("README", "Check", "Use", "Metadata", "Diff to previous", "Grounding", "Explored")
README, CHECK, USE, METADATA, DIFFERENCE, GROUNDING, EXPLORATION = TABS
SHOWN_AT_FIRST = 256_000
_NAMES_LIMIT = 300


@dataclass(frozen=True, slots=True)
class OutcomeContent:
    """The document of a tab.

    ``readme`` is the text that evidence offsets refer to, and ``raw`` says whether it is shown as source. ``places``
    are the marked items as (line, start column, end column, item number), and ``why`` is their grounding.
    """

    document: doc.TextDocument
    readme: str = ""
    raw: bool = False
    places: tuple[tuple[int, int, int, int], ...] = ()
    why: Why | None = None
    check: ShownCheck | None = None


def load_outcome(
    reader: SessionReader,
    state: TrialState,
    tab: str,
    *,
    raw: bool,
    limit: int = SHOWN_AT_FIRST,
    why: Why | None = None,
) -> OutcomeContent:
    """Load and lay out a tab of a trial; if ``why`` is given, the items in its README are marked."""
    if tab == METADATA:
        return OutcomeContent(_metadata(reader, state, limit))
    if tab == DIFFERENCE:
        return OutcomeContent(_difference(reader, state))
    if tab == CHECK:
        return OutcomeContent(doc.note(""), check=load_check(reader, state))
    if tab == USE:
        text = "Not measured yet. {trajectory.measure-use} measures what readers can do with this README."
        return OutcomeContent(
            doc.note(with_keys(text) if state.trial.readme_blob else "There is no README to measure.")
        )
    if tab in {GROUNDING, EXPLORATION}:
        return OutcomeContent(
            wording.exploration(why) if why is not None else doc.note("Loading the grounding…"), why=why
        )
    if state.run is not None and state.run.has_candidates:
        return OutcomeContent(_answer(reader, state))
    readme = reader.shown(state.trial.readme_blob, f"the README of trial {state.trial.id}", limit)
    if not readme.strip():
        return OutcomeContent(_no_readme(state), why=why)
    cut = cut_of(reader.size(state.trial.readme_blob), limit)
    raw = raw or len(readme) > markdown.RENDER_LIMIT
    document = (markdown.source if raw else markdown.render)(readme, step_of=_step_finder(state), cut=cut)
    document = doc.with_margin(document, state.use.marks if state.use is not None else {})
    if why is None or why.grounding is None:
        return OutcomeContent(document, readme, raw, why=why)
    document, places = wording.marked(document, readme, why.grounding)
    return OutcomeContent(document, readme, raw, places, why)


def _answer(reader: SessionReader, state: TrialState) -> doc.TextDocument:
    """Return the answer of a reader agent, which is a sample of a usage run, with its verdict."""
    sample = reader.candidate(state.trial.id)
    if sample is None or sample.answer_blob is None:
        why = why_not(state, "an answer was submitted")
        return doc.note(
            *(why or ((sample and sample.verdict_reason) or "No answer yet: the agent submits it in its last step.",))
        )
    verdict = f"Verdict: {sample.verdict or 'none yet'}. {sample.verdict_reason or ''}".strip()
    answer = reader.shown(sample.answer_blob, f"the answer of sample {sample.id}")
    return markdown.render(f"{answer}\n\n{verdict}\n")


def _step_finder(state: TrialState) -> markdown.StepOf:
    """Return a function that maps a line of text to the step that first read a file named in it."""
    steps: dict[str, int] = {}
    for (path, how), row in state.seen.items():
        if how == "read" and len(steps) < _NAMES_LIMIT:
            for name in (path, path.rpartition("/")[2]):
                if len(name) > 3:
                    steps[name] = min(row.step, steps.get(name, row.step))
    names = "|".join(re.escape(name) for name in sorted(steps, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/.-])(?:{names})(?![\w-])")

    def step_of(text: str) -> int | None:
        found = pattern.search(text) if steps else None
        return steps[found.group()] if found else None

    return step_of


def _no_readme(state: TrialState) -> doc.TextDocument:
    if state_of(state) in {"queued", "running"}:
        return doc.note("No README yet: the agent writes it in its last step.")
    if texts := why_not(state, "a README was written"):
        return doc.note(*texts)
    if state.trial.parsed == 0:
        return doc.note(
            "The last answer could not be parsed, so there is no README.", "The Raw tab of the last step shows it."
        )
    if state.trial.readme_blob is None:
        return doc.note("The imported file has no README for this trial.")
    return doc.note("The agent submitted an empty README.")


def _metadata(reader: SessionReader, state: TrialState, limit: int) -> doc.TextDocument:
    text = reader.shown(state.trial.metadata_blob, f"the metadata of trial {state.trial.id}", limit)
    if not text.strip():
        done = state_of(state) == "done"
        return doc.note(
            "The agent submitted no metadata." if done else "No metadata yet: the agent writes it in its last step."
        )
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return doc.code(text, "metadata.txt", cut=cut_of(reader.size(state.trial.metadata_blob), limit))
    document = doc.code(json.dumps(decoded, indent=2, ensure_ascii=False), "metadata.json")
    if isinstance(decoded, dict) and decoded:
        return document
    kind = "an empty object" if decoded == {} else f"{_kind(decoded)}, not an object"
    warning = doc.styled((f"! The metadata is {kind}; schema.org requires keys and values.", "warn"), indent=2)
    return doc.TextDocument((warning, doc.TextLine(""), *document.lines), document.text)


def _kind(value: object) -> str:
    names = {str: "a text", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return "nothing (null)" if value is None else names.get(type(value), "something else")


def locate(document: doc.TextDocument, readme: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return where characters ``start`` to ``end`` of the README are shown, as (line, start column, end column).

    This is exact in the source view. In the rendered view, a line that contains the text is marked at the match, and
    any other line of the span is marked as a whole.
    """
    first, first_column = doc.position(readme, start)
    last, last_column = doc.position(readme, max(start, end))
    found: list[tuple[int, int, int]] = []
    wanted = doc.prepared(readme[start:end]).strip("#*`_ ")
    for index, line in enumerate(document.lines):
        if line.source < 0 or line.source_end <= first or line.source > last or not line.text:
            continue
        left, right = 0, len(line.text)
        if document.numbered:
            left = first_column if line.source == first else 0
            right = last_column if line.source == last else right
        elif wanted and "\n" not in wanted and (at := line.text.find(wanted)) >= 0:
            left, right = at, at + len(wanted)
        if right > left:
            found.append((index, left, right))
    return found


def _difference(reader: SessionReader, state: TrialState) -> doc.TextDocument:
    """Lay out the comparison with the previous trial as in ``workbench compare``, and a diff of the READMEs."""
    from workbench.comparison.trials import read_trials
    from workbench.pages.comparison import comparison_page

    if state.place.previous is None:
        again = with_keys("Press {trajectory.rerun} to rerun it and compare.")
        return doc.note("This is the first trial of its case in this session.", again)
    found = read_trials((reader, state.place.previous), (reader, state.trial.id))
    whole = comparison_page([found])
    parts = [*whole.lead, *(part for one in whole.sections for part in (page.Subheading(one.title), *one.parts))]
    texts = found.panes["README"]
    readmes = (texts.left, texts.right) if isinstance(texts, Texts) else ()
    old, new = ((one.text or "").splitlines() for one in readmes)
    diff = line_diff(old, new, 2)
    text = line_diff_words(diff) if diff or new else "neither trial wrote a README"
    parts += [
        page.Subheading("README", text),
        *(page.Note(f"Only the beginning of {one.title} is compared.") for one in readmes if one.cut),
    ]
    return doc.joined([doc.of_page(parts), doc.difference(diff)])


class OutcomePane(TabbedText):
    """The pane with the outcome of the trial."""

    short = "README"
    at_first = SHOWN_AT_FIRST

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.raw = self.marking = False
        self.why: Why | None = None
        self._why_of: tuple[object, ...] = ()  # the inputs that `why` was computed from
        self._now: tuple[SessionReader, TrialState] | None = None
        self._outcome = OutcomeContent(doc.note(""))
        self._step = 0

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="outcome-tabs")
        yield TextPane(id="outcome-text")
        yield GroundingList(id="grounding")
        yield CheckList(id="check")
        yield UseList(id="use")

    def on_mount(self) -> None:
        self.items.display = self.checks.display = self.uses.display = False

    items = getters.query_one(GroundingList)
    checks = getters.query_one(CheckList)
    uses = getters.query_one(UseList)

    @property
    def tab(self) -> str:
        return self.wanted or README

    @property
    def _marks(self) -> bool:
        """Whether the items are marked in the README now."""
        return self.marking and self.tab == README

    def show_trial(self, reader: SessionReader, state: TrialState) -> None:
        if self._now is None or self._now[1].trial.id != state.trial.id:
            self._limit = SHOWN_AT_FIRST
            self.checks.begin()
        self._now = (reader, state)
        self._ask()

    def reading_all(self) -> Callable[[], doc.TextDocument] | None:
        if self._now is None:
            return None
        (reader, state), tab = self._now, self.tab
        return lambda: load_outcome(reader, state, tab, raw=True, limit=COPIED_AT_MOST).document

    def subject(self) -> doc.PaneContent:
        tab = self.tab
        if tab == CHECK:
            return doc.PaneContent("the check", self.checks.plain_text(), ".txt")
        if tab == USE:
            return doc.PaneContent("the use", self.uses.plain_text(), ".txt")
        suffix = {README: ".md", METADATA: ".json"}.get(tab, ".diff")
        return doc.PaneContent(tab, self.text.document.text, suffix, self.whole)

    def toggle_raw(self) -> None:
        self.raw = not self.raw
        self.go(README)

    def toggle_marks(self) -> None:
        self.marking = not self._marks
        self.go(README)

    def on_resize(self) -> None:
        self._title()

    def _title(self) -> None:
        shown = self.why if self._marks or self.tab == GROUNDING else None
        use = self._now[1].use if self.tab == USE and self._now is not None else None
        title = brief(use) if use is not None else "Outcome"
        self.titled(title if shown is None else wording.sentence(shown, self.size.width - 4))

    def highlight(self, step: int) -> None:
        """Highlight what a step contributed to the README."""
        if step != self._step:
            self._step = step
            self.items.highlight(step)
            self._highlight()

    def _highlight(self) -> None:
        found = self.why.grounding if self.why is not None else None
        if found is not None and (places := self._outcome.places):
            mine = {number for number, item in enumerate(found.items) if self._step in item.steps}
            self.text.highlight(
                [doc.LineRange(line, start, end) for line, start, end, number in places if number in mine]
            )

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, state = self._now
        trial, tab, raw, limit = state.trial, self.tab, self.raw, self._limit
        of_steps = state.step_count, len(state.seen), len(state.files)
        rests_on = (trial.id, trial.readme_blob, trial.snapshot, trial.state, *of_steps)
        if self._why_of[:2] != rests_on[:2]:
            self.why, self._why_of = None, ()
        grounds, before, is_new = self._marks or tab in {GROUNDING, EXPLORATION}, self.why, self._why_of != rests_on
        self._title()
        seen = len(state.seen) if trial.readme_blob else 0
        shown = trial.readme_blob, trial.metadata_blob, state_of(state), trial.error, len(state.cards), seen
        key = (trial.id, tab, raw, limit, *shown, grounds and rests_on, state.use)
        if tab == CHECK:
            self.loader.requested_key = ()  # force a reload, because the state does not include the progress of a check

        def work() -> OutcomeContent:
            from workbench.grounding import read_trial

            why = before if grounds else None
            if grounds and is_new:
                if before is None:  # loading is slow, so show the text in the meantime
                    self.loader.report(show, load_outcome(reader, state, tab, raw=raw, limit=limit))
                why = read_trial(reader, trial)
            return load_outcome(reader, state, tab, raw=raw, limit=limit, why=why)

        def show(found: OutcomeContent) -> None:
            if key != self.loader.requested_key:
                return
            self._outcome = found
            if found.why is not None and found.why is not self.why:
                self.why, self._why_of = found.why, rests_on
                empty = found.why.note or "The README contains no names that could be looked up."
                self.items.show(found.why.grounding, empty if found.why.grounding else "There is no README.")
                self._title()
            if found.check is not None and found.check != self.checks.shown:
                self.checks.show(found.check)
            tabs = self.query_one(TabLine)
            tabs.current = tab
            tabs.remark = "" if not found.readme else "m rendered" if found.raw else "m source"
            lists: Widget = self.items if tab == GROUNDING and found.why is not None else self.text
            if tab == USE and state.use is not None:
                self.uses.show(state.use)
                lists = self.uses
            self._show_instead(self.checks if found.check is not None else lists)
            self.text.show(found.document, keep_place=key[:3] == self.loader.shown_key[:3])
            self._highlight()

        self.load(key, work, show, lambda sentence: OutcomeContent(doc.note(sentence)))

    def _show_instead(self, here: Widget) -> None:
        """Show one text or list and hide the others; if one of those had the focus, it moves along."""
        others = [one for one in (self.items, self.checks, self.uses, self.text) if one is not here]
        had = any(other.has_focus for other in others)
        here.display = True
        for other in others:
            other.display = False
        if had:
            self.screen.set_focus(here)

    def bring_into_sight(self, target: ScrollTarget) -> None:
        if target.span is None:
            super().bring_into_sight(target)
        elif readme := self._outcome.readme:
            document = self._outcome.document
            marks = [doc.LineRange(*place) for place in locate(document, readme, *target.span)]
            self.text.mark_evidence(marks)
            if not marks:
                self.text.go_to(document.line_at(doc.position(readme, target.span[0])[0]))
