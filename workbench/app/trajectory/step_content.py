"""The texts of a step as documents: thought, action, observation, prompt and raw call."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult

from workbench.agents.protocol import split_answer
from workbench.app.keys import key_of
from workbench.app.toolkit import document as doc
from workbench.app.toolkit.pane import COPIED_AT_MOST, TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.trajectory.trial_state import TrialState, waiting_for, why_not
from workbench.base.text import decoded, money, one_line, plural, size_of
from workbench.pages import page
from workbench.results.context_usage import ContextPart, ContextUsage, read_context_usage
from workbench.results.forks import inheritance
from workbench.session.labels import in_words

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CallRow, StepRow


REST_SECONDS = 0.25
"""The delay before the rest of a long text is highlighted."""
TABS = ("Thought", "Action", "Observation", "Prompt", "Raw")
SHOWN_AT_FIRST = 64_000
"""Number of bytes of a text to load until the user asks for more."""
_ANSWER_LIMIT = 2_000_000
_NAME, _TOKENS = 24, 9
_MOST_ROWS = 200
"""The maximum number of prompt parts to list; only the last ones are kept."""


@dataclass(frozen=True, slots=True)
class StepContent:
    """The document of a tab; ``empty`` holds the names of the tabs without content."""

    tab: str
    document: doc.TextDocument
    empty: frozenset[str] = frozenset()
    wholly_coloured: bool = True


def load_content(
    reader: SessionReader,
    step: StepRow,
    wanted: str | None,
    limit: int = SHOWN_AT_FIRST,
    coloured: int = doc.COLOURED_AT_FIRST,
    *,
    remarks: Sequence[str] = (),
) -> StepContent:
    """Load and lay out the ``wanted`` tab of a step, or its most informative tab if that is empty or None.

    At most ``limit`` bytes are loaded, ``coloured`` characters of an observation are highlighted, and ``remarks`` are
    shown above the text.
    """
    answer = reader.shown(step.answer_blob, f"the answer of {_named(step)}", _ANSWER_LIMIT)
    thought, action = split_answer(answer)
    if step.kind in {"plan", "invalid"} and not action:
        thought = answer.strip()
    there = {
        "Thought": thought,
        "Observation": step.observation_blob,
        "Prompt": step.call_id is not None,
        "Raw": step.call_id is not None or answer,
    }
    empty = frozenset(tab for tab, has in there.items() if not has)
    order = {"tool": ("Observation",), "plan": ("Thought",), "invalid": ("Thought", "Raw")}.get(step.kind, ())
    tab = next((one for one in (wanted, *order) if one and one not in empty), "Action")
    if tab == "Thought":
        document = doc.plain(thought)
    elif tab == "Observation":
        size = step.observation_size or reader.size(step.observation_blob)
        text = reader.shown(step.observation_blob, f"the observation of {_named(step)}", limit)
        path = {"read_file": step.target, "list_directory": "list.json"}.get(step.action, "")
        document = doc.code(text, "" if text.startswith("Error:") else path, cut=cut_of(size, limit), coloured=coloured)
    elif tab == "Prompt":
        document = _prompt(reader, step, limit)
    elif tab == "Raw":
        document = _raw(reader, step, answer, limit)
    else:
        document = _action(step, action)
    whole = tab != "Observation" or min(len(document.text), doc.COLOURED_AT_MOST) <= coloured
    if step.problem and tab in {"Thought", "Action", "Observation"}:
        sign, style = ("!", "invalid") if step.kind == "invalid" else ("✗", "bad")
        problem = doc.styled((f"{sign} {step.problem}", style), indent=2)
        text = f"{problem.text}\n{document.text}".strip() if tab == "Action" else document.text
        document = doc.TextDocument((problem, doc.TextLine(""), *document.lines), text, document.cut)
    if remarks:
        above = [doc.styled((f"✎ {one_line(text, 2000)}", "notice"), indent=2) for text in remarks]
        document = replace(document, lines=(*above, doc.TextLine(""), *document.lines))
    return StepContent(tab, document, empty, whole)


def _action(step: StepRow, action: str) -> doc.TextDocument:
    if step.kind == "error":
        return doc.note("No answer was received, so there is no action.", "Raw lists the attempts.")
    title = doc.heading(step.action, step.target)
    if not action:
        return doc.joined([title, doc.note("", "The answer has no action; Raw shows it.")])
    try:
        decoded = json.loads(action, strict=False)
    except (ValueError, RecursionError):
        return doc.joined([title, doc.note(""), doc.code(action, "action.txt")])
    long_texts: list[doc.TextDocument] = []
    if isinstance(decoded, dict) and isinstance(decoded.get("kwargs"), dict):
        decoded["kwargs"] = {key: _shortened(key, value, long_texts) for key, value in decoded["kwargs"].items()}
    pretty = doc.code(json.dumps(decoded, indent=2, ensure_ascii=False), "action.json")
    bare = doc.TextDocument(
        tuple(doc.TextLine(line.text, line.spans, indent=line.indent) for line in pretty.lines), pretty.text
    )
    return doc.joined([title, doc.note(""), bare, *long_texts])


def _shortened(key: str, value: Any, long_texts: list[doc.TextDocument]) -> Any:
    """Move a long text out of the JSON, where it would be a single very long line."""
    if not isinstance(value, str) or len(value) < 200:
        return value
    long_texts += [doc.note(""), doc.heading(key, f"{len(value):,} characters"), doc.plain(value)]
    return f"… {len(value):,} characters, below"


def cut_of(size: int, shown: int) -> str | None:
    """Return a note on how much of a text is not shown and how to see it, or None if all of it is shown."""
    return _with_more(f"{size_of(size - shown)} of {size_of(size)} are not shown.") if size > shown else None


def _with_more(text: str) -> str:
    return f"… {text} Press {key_of('trajectory.more')} for more."


def _message(
    reader: SessionReader, role: str, detail: str, digest: str, size: int, room: int
) -> tuple[list[doc.TextDocument], int]:
    """Return a message below a heading with its role, and the number of bytes shown."""
    behind = "  ".join(filter(None, (size_of(size), detail)))
    title = doc.of_lines([doc.styled((f"▎{role}", "role"), (f"  {behind}", "dim"))])
    text = reader.shown(digest, "a message of a request", room)
    shown = len(text.encode("utf-8", "replace"))
    return [doc.note(""), title, doc.plain(text, cut=cut_of(size, shown) if size > shown + 8 else None)], shown


def _raw(reader: SessionReader, step: StepRow, answer: str, limit: int) -> doc.TextDocument:
    call = reader.call(step.call_id) if step.call_id is not None else None
    if call is None:
        return doc.joined(
            [doc.note("The call of this step is not in the session; this is the answer.", ""), doc.plain(answer)]
        )
    parts = [_facts(call), doc.note("", "See Prompt for the messages sent.")]
    if call.error:
        parts += [doc.note(""), doc.heading("error", call.error_kind or ""), doc.plain(call.error, style="bad")]
    text = ("reasoning", "", call.reasoning_blob), ("answer", call.finish_reason or "", call.answer_blob)
    for role, detail, blob in text:
        parts += _message(reader, role, detail, blob, reader.size(blob), limit)[0] if blob else []
    return doc.joined(parts)


def _facts(call: CallRow) -> doc.TextDocument:
    other = f" (answered by {call.answered_by})" if call.answered_by not in (None, call.model) else ""
    tokens = "–"
    if call.prompt_tokens is not None:
        cached = f" ({call.cached_tokens:,} cached)" if call.cached_tokens else ""
        tokens = f"{call.prompt_tokens:,} in{cached} · {call.completion_tokens or 0:,} out"
    attempts = decoded(call.attempts)
    if isinstance(attempts, list):
        errors = [str(item.get("error")) for item in attempts if isinstance(item, dict) and item.get("error")]
        attempts = f"{len(attempts)}" + (f": {'; '.join(errors)}" if errors else "")
    settings = decoded(call.sampling)
    if isinstance(settings, dict):
        pairs = [f"{key} {value}" for key, value in settings.items() if value not in (None, [], "")]
        settings = " · ".join(pairs) or "the provider's defaults"
    return doc.of_page([page.FactList((
        ("model", f"{call.model}{other}"),
        ("settings", str(settings)),
        ("tokens", tokens),
        ("latency", f"{call.latency_s:.2f} s" if call.latency_s is not None else "–"),
        ("cost", money(call.cost_usd) if call.cost_usd is not None else "unknown"),
        ("attempts", str(attempts)),
        ("source", call.source),
    ))])  # fmt: skip


def _named(step: StepRow) -> str:
    return f"step {step.number} of trial {step.trial_id}"


def _prompt(reader: SessionReader, step: StepRow, limit: int) -> doc.TextDocument:
    sent = read_context_usage(reader, step)
    if sent is None:
        return doc.note("No request is recorded for this step: nothing was sent to a model.")
    if not sent.parts:
        return doc.note("The messages of this request cannot be read.")
    parts, room, ordered = [_table(sent)], limit, sorted(sent.parts, key=lambda part: not part.new)
    for at, part in enumerate(ordered):
        if room <= 0:
            parts += [doc.note(""), doc.plain(_with_more(f"{plural(len(ordered) - at, 'more part')}."), style="notice")]
            break
        first = not at or ordered[at - 1].new is not part.new
        if first and part.new:
            since = f"new since step {sent.previous}" if sent.previous is not None else "the first request"
            parts += [doc.note(""), doc.heading(since)]
        elif first:
            parts += [doc.note(""), doc.heading("as before")]
        role, most = one_line(part.role, 20), min(room, part.size + 400)
        more, shown = _message(reader, role, _name_of(part), part.digest, part.size, most)
        parts += more[first:]  # the first message directly follows the heading
        room -= shown
    document = doc.joined(parts)
    return replace(document, cut="…") if room <= 0 else document


def _table(sent: ContextUsage) -> doc.TextDocument:
    """Return a document on the composition of a prompt: totals, and a row per part."""
    known = sent.tokens
    whole = f"{known:,} tokens sent" if known is not None else "the tokens of this request were not recorded"
    more = [f"{len(sent.parts):,} messages"]
    if sent.previous is not None and known is not None and sent.previous_tokens is not None:
        more.append(f"{known - sent.previous_tokens:+,} since step {sent.previous}".replace("-", "−"))
    if sent.call.cached_tokens:
        more.append(f"{sent.call.cached_tokens:,} cached")
    texts = ["The provider counts the total; ≈ estimates a part from its share of the bytes added."]
    if sent.shape:
        texts.append(f"The answer was constrained by a grammar of {size_of(sent.shape)}.")
    lines = [doc.styled((whole, "heading"), *((f" · {one}", "") for one in more), indent=2)]
    lines += [doc.styled((one, "dim"), indent=2) for one in texts]
    lines += [doc.TextLine(""), doc.styled((f"  {'part':<{_NAME}}{'tokens':>{_TOKENS}}{'size':>9}", "dim"), indent=-1)]
    left_out = max(0, len(sent.parts) - _MOST_ROWS)
    if left_out:
        lines.append(doc.styled((f"  … {left_out:,} earlier parts", "dim"), indent=-1))
    for part in sent.parts[left_out:]:
        lines.append(_row(part, "+" if part.new else " ", "strong" if part.new else ""))
    lines += [_row(part, "−", "dim", " no longer sent") for part in sent.dropped[-_MOST_ROWS:]]
    return doc.of_lines(lines)


def _row(part: ContextPart, sign: str, style: str, more: str = "") -> doc.TextLine:
    tokens = "–" if part.tokens is None else f"{'' if part.exact else '≈ '}{part.tokens:,.0f}"
    text = f"{sign} {_name_of(part) + more:<{_NAME}}{tokens:>{_TOKENS}}{size_of(part.size):>9}"
    return doc.styled((text, style), indent=-1)


def _name_of(part: ContextPart) -> str:
    named = part.kind in {"answer", "observation"} and part.step is not None
    return f"{part.kind} of step {part.step}" if named else part.kind


class ContentPane(TabbedText):
    """The pane with the thought, action, observation, prompt and raw call of a step."""

    short = "Step"
    at_first = SHOWN_AT_FIRST

    _now: tuple[SessionReader, TrialState, StepRow] | None = None

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="content-tabs")
        yield TextPane(id="content-text")

    @property
    def tab(self) -> str:
        return self.query_one(TabLine).current

    def show_no_step(self, state: TrialState, waited: float = 0.0) -> None:
        self._now, self.loader.requested_key, self.loader.shown_key = None, (), ()
        self.titled("Step")
        texts = why_not(state, "the first step") or ("The trial has no steps.",)
        if waiting := waiting_for(state, waited):
            texts = f"{waiting[:1].upper()}{waiting[1:]}", "Steps appear here as the agent takes them."
        self.text.show(doc.note(*texts))

    def show_step(self, reader: SessionReader, state: TrialState, step: StepRow) -> None:
        if self._now is None or self._now[2].number != step.number or self._now[1].trial.id != state.trial.id:
            self._limit = SHOWN_AT_FIRST
        self._now = (reader, state, step)
        named = step.target if step.kind in {"tool", "respond"} else ""
        self.titled(
            one_line(f"{step.number} {step.action} {named}", 60), inheritance(state.trial, step.number) or _took(step)
        )
        self._ask()

    def reading_all(self) -> Callable[[], doc.TextDocument] | None:
        if self._now is None:
            return None
        reader, _, step = self._now
        tab = self.tab
        return lambda: load_content(reader, step, tab, COPIED_AT_MOST).document

    def subject(self) -> doc.PaneContent:
        step, tab = self._now[2] if self._now is not None else None, self.tab
        named = Path(step.target).suffix if step is not None and tab == "Observation" else ""
        of = f"the {tab.lower()} of step {step.number}" if step is not None else "the step"
        return doc.PaneContent(of, self.text.document.text, named if named[1:].isalnum() else ".txt", self.whole)

    @property
    def is_cut(self) -> bool:
        return super().is_cut or self.tab in {"Prompt", "Raw"}

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, state, step = self._now
        remarks = tuple(remark.text for remark in state.annotations if remark.step == step.number)
        if labels := state.labels.get(str(step.number)):
            remarks = (in_words(labels), *remarks)
        wanted, limit = self.wanted, self._limit
        key = (state.trial.id, step, wanted, limit, remarks)
        read = partial(load_content, reader, step, wanted, limit, remarks=remarks)

        def show(loaded: StepContent) -> None:
            tabs = self.query_one(TabLine)
            tabs.empty, tabs.current = loaded.empty, loaded.tab
            self.text.show(loaded.document, keep_place=key[:3] == self.loader.shown_key[:3])
            if not loaded.wholly_coloured:
                # Highlight the rest only if the step stays selected.
                self.set_timer(REST_SECONDS, colour)

        def colour() -> None:
            if key == self.loader.requested_key and self.loader.idle:
                self.loader.ask(partial(read, coloured=doc.COLOURED_AT_MOST), coloured)

        def coloured(loaded: StepContent) -> None:
            if key == self.loader.requested_key:
                self.text.recolour(loaded.document)

        self.load(key, read, show, lambda sentence: StepContent(wanted or self.tab, doc.note(sentence)))


def _took(step: StepRow) -> str:
    tokens = (step.prompt_tokens or 0) + (step.completion_tokens or 0)
    parts = [one_line(step.model, 30)] if step.model else []
    parts += [f"{tokens:,} tokens"] if tokens else []
    parts += [f"{step.seconds:.1f} s"] if step.seconds is not None else []
    parts += [money(step.cost_usd)] if step.cost_usd else []
    return " · ".join(parts)
