"""What a trial brought: its README, its metadata and how it differs from the trial before, as documents."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import with_keys
from workbench.app.toolkit.document import (
    Document,
    Line,
    code,
    difference,
    joined,
    note,
    of_page,
    position,
    prepared,
    styled,
)
from workbench.app.trajectory import markdown
from workbench.app.trajectory import why as wording
from workbench.app.trajectory.loading import TrialState, state_of, why_not
from workbench.app.trajectory.step_content import cut_of
from workbench.reports import page

if TYPE_CHECKING:
    from workbench.grounding import Why
    from workbench.session.reader import SessionReader

README, CHECK, METADATA, DIFFERENCE, GROUNDING, EXPLORATION = TABS = (
    "README",
    "Check",
    "Metadata",
    "Diff to previous",
    "Grounding",
    "Explored",
)
SHOWN_AT_FIRST = 256_000
_NAMES_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """The document of a tab; ``readme`` is the text that offsets of evidence count in, ``raw`` how it is shown.

    ``places`` are those of items that are marked in it: line, from, to, number of the item.
    """

    document: Document
    readme: str = ""
    raw: bool = False
    places: tuple[tuple[int, int, int, int], ...] = ()


def load_outcome(
    reader: SessionReader,
    state: TrialState,
    tab: str,
    *,
    raw: bool,
    limit: int = SHOWN_AT_FIRST,
    why: Why | None = None,
) -> Outcome:
    """Read and lay out a tab of a trial; with ``why`` the items of its README are marked."""
    if tab == METADATA:
        return Outcome(_metadata(reader, state, limit))
    if tab == DIFFERENCE:
        return Outcome(_difference(reader, state))
    if tab == EXPLORATION:
        return Outcome(wording.exploration(why) if why is not None else note("Looking what the agent saw…"))
    readme = reader.shown(state.trial.readme_blob, f"the README of trial {state.trial.id}", limit)
    if not readme.strip():
        return Outcome(_no_readme(state))
    cut = cut_of(reader.size(state.trial.readme_blob), limit)
    raw = raw or len(readme) > markdown.RENDER_LIMIT
    document = (markdown.source if raw else markdown.render)(readme, step_of=_step_finder(state), cut=cut)
    if why is None or why.grounding is None:
        return Outcome(document, readme, raw)
    document, places = wording.marked(document, readme, why.grounding)
    return Outcome(document, readme, raw, places)


def _step_finder(state: TrialState) -> markdown.StepOf:
    """Return what finds the step that read the file which a line names."""
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


def _no_readme(state: TrialState) -> Document:
    if state_of(state) in {"queued", "running"}:
        return note("No README yet: it comes with the agent's last step.")
    if said := why_not(state, "a README was written"):
        return note(*said)
    if state.trial.parsed == 0:
        return note("The last answer could not be read, so it holds no README.", "The last step's Raw tab shows it.")
    if state.trial.readme_blob is None:
        return note("The file that this trial was imported from holds no README.")
    return note("The agent answered with an empty README.")


def _metadata(reader: SessionReader, state: TrialState, limit: int) -> Document:
    text = reader.shown(state.trial.metadata_blob, f"the metadata of trial {state.trial.id}", limit)
    if not text.strip():
        done = state_of(state) == "done"
        return note("The agent gave no metadata." if done else "No metadata yet: it comes with the agent's last step.")
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return code(text, "metadata.txt", cut=cut_of(reader.size(state.trial.metadata_blob), limit))
    document = code(json.dumps(decoded, indent=2, ensure_ascii=False), "metadata.json")
    if isinstance(decoded, dict) and decoded:
        return document
    kind = "an empty object" if decoded == {} else f"{_kind(decoded)}, not an object"
    warning = styled((f"! The metadata is {kind}: schema.org needs keys and values.", "warn"), indent=2)
    return Document((warning, Line(""), *document.lines), document.text)


def _kind(value: object) -> str:
    names = {str: "a text", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return "nothing (null)" if value is None else names.get(type(value), "something else")


def locate(document: Document, readme: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return where characters ``start`` to ``end`` of the README stand in its document, as (line, from, to).

    In the source view that is exact. In the rendered view a line whose text contains the characters is marked there,
    any other line of the span as a whole.
    """
    first, first_column = position(readme, start)
    last, last_column = position(readme, max(start, end))
    found: list[tuple[int, int, int]] = []
    wanted = prepared(readme[start:end]).strip("#*`_ ")
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


def _difference(reader: SessionReader, state: TrialState) -> Document:
    """Lay out how the trial differs from the one before it, as ``workbench compare`` says it, and the lines of its README."""
    from workbench.comparison.diff import line_diff, line_diff_words
    from workbench.comparison.texts import Texts
    from workbench.comparison.trials import read_trials
    from workbench.reports.comparison_page import comparison_page

    if state.place.previous is None:
        again = with_keys("Press {trajectory.rerun} to run it again and compare.")
        return note("This is the first trial of its case in this session.", again)
    found = read_trials((reader, state.place.previous), (reader, state.trial.id))
    whole = comparison_page([found])
    parts = [*whole.lead, *(part for one in whole.sections for part in (page.Heading(one.title), *one.parts))]
    texts = found.panes["README"]
    readmes = (texts.left, texts.right) if isinstance(texts, Texts) else ()
    old, new = ((one.text or "").splitlines() for one in readmes)
    diff = line_diff(old, new, 2)
    said = line_diff_words(diff) if diff or new else "neither trial wrote one"
    parts += [
        page.Heading("README", said),
        *(page.Note(f"Only the beginning of {one.title} is compared.") for one in readmes if one.cut),
    ]
    return joined([of_page(parts), difference(diff)])
