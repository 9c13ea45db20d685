"""What a trial brought: its README, its metadata and how both differ from the trial before, as documents."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import size_of
from workbench.app.toolkit.document import Document, Line, code, note, prepared
from workbench.app.trajectory import markdown
from workbench.app.trajectory.loading import TrialState, state_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

GROUNDING, EXPLORATION, CHECK = "Grounding", "Explored", "Check"
TABS = ("README", "Check", "Metadata", "Diff to previous", GROUNDING, EXPLORATION)
SHOWN_AT_FIRST = 256_000
_NAMES_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """The document of one tab; ``readme`` is the text that offsets of evidence count in, ``raw`` how it is shown."""

    tab: str
    document: Document
    readme: str
    raw: bool


def load_outcome(
    reader: SessionReader, state: TrialState, tab: str, *, raw: bool, limit: int = SHOWN_AT_FIRST
) -> Outcome:
    """Read and lay out one tab of a trial's outcome."""
    if tab == "Metadata":
        return Outcome(tab, _metadata(reader, state, limit), "", raw)
    if tab == "Diff to previous":
        from workbench.app.trajectory.comparison import load_comparison

        return Outcome(tab, load_comparison(reader, state), "", raw)
    readme = reader.shown(state.trial.readme_blob, f"the README of trial {state.trial.id}", limit)
    if not readme.strip():
        return Outcome(tab, _no_readme(state), "", raw)
    cut = _cut(reader.size(state.trial.readme_blob), limit)
    step_of = provenance(state)
    if raw or len(readme) > markdown.RENDER_LIMIT:
        return Outcome(tab, markdown.source(readme, step_of=step_of, cut=cut), readme, True)
    return Outcome(tab, markdown.render(readme, step_of=step_of, cut=cut), readme, False)


def _cut(size: int, limit: int) -> str | None:
    return (
        f"… {size_of(size - limit)} of {size_of(size)} are not shown. Press {key_of('trajectory.more')} for more."
        if size > limit
        else None
    )


def provenance(state: TrialState) -> markdown.StepOf:
    """Return what finds the step that read the file which a line names."""
    steps: dict[str, int] = {}
    for (path, how), row in state.seen.items():
        if how == "read" and len(steps) < _NAMES_LIMIT:
            for name in (path, path.rpartition("/")[2]):
                if len(name) > 3:
                    steps[name] = min(row.step, steps.get(name, row.step))
    if not steps:
        return lambda _: None
    names = "|".join(re.escape(name) for name in sorted(steps, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/.-])(?:{names})(?![\w-])")

    def step_of(text: str) -> int | None:
        found = pattern.search(text)
        return steps[found.group()] if found else None

    return step_of


def _no_readme(state: TrialState) -> Document:
    shown = state_of(state)
    if shown in {"queued", "running"}:
        return note("No README yet: it comes with the agent's last step.")
    if shown == "interrupted":
        return note(
            "The engine stopped before a README was written.", f"Press {key_of('trajectory.resume')} to resume."
        )
    if shown == "cancelled":
        return note(
            "The trial was cancelled before a README was written.",
            f"Press {key_of('trajectory.rerun')} to run it again.",
        )
    if shown == "failed":
        return note(
            f"There is no README: {state.trial.error or 'the trial failed'}",
            f"Press {key_of('trajectory.rerun')} to run it again.",
        )
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
        return code(text, "metadata.txt", cut=_cut(reader.size(state.trial.metadata_blob), limit))
    document = code(json.dumps(decoded, indent=2, ensure_ascii=False), "metadata.json")
    if isinstance(decoded, dict) and decoded:
        return document
    kind = "an empty object" if decoded == {} else f"{_kind(decoded)}, not an object"
    warning = f"! The metadata is {kind}: schema.org needs keys and values."
    lines = (Line(warning, ((0, len(warning), "warn"),), indent=2), Line(""), *document.lines)
    return Document(lines, document.text)


def _kind(value: object) -> str:
    names = {str: "a text", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return "nothing (null)" if value is None else names.get(type(value), "something else")


def locate(document: Document, readme: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return where characters ``start`` to ``end`` of the README stand in its document, as (line, from, to).

    In the source view that is exact. In the rendered view a line whose text contains the characters is marked there,
    any other line of the span as a whole.
    """
    from workbench.app.toolkit.document import position

    first, first_column = position(readme, start)
    last, last_column = position(readme, max(start, end))
    found: list[tuple[int, int, int]] = []
    wanted = prepared(readme[start:end]).split("\n")
    for index, line in enumerate(document.lines):
        if line.source < 0 or line.source_end <= first or line.source > last or not line.text:
            continue
        if document.numbered:
            left = first_column if line.source == first else 0
            right = last_column if line.source == last else len(line.text)
        else:
            left, right = 0, len(line.text)
            if len(wanted) == 1 and wanted[0].strip("#*`_ "):
                text = wanted[0].strip("#*`_ ")
                at = line.text.find(text)
                left, right = (at, at + len(text)) if at >= 0 else (left, right)
        if right > left:
            found.append((index, left, right))
    return found
