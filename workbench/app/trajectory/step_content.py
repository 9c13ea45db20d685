"""What one step says: thought, action, observation, what was sent for it and the raw call, each as a document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.agents.protocol import split_answer
from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import money, size_of
from workbench.app.toolkit.document import (
    COLOURED_AT_FIRST,
    COLOURED_AT_MOST,
    Document,
    Line,
    code,
    heading,
    joined,
    note,
    of_lines,
    plain,
    styled,
)
from workbench.comparison import Sent, SentPart, read_sent
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CallRow, StepRow


TABS = ("Thought", "Action", "Observation", "Prompt", "Raw")
SHOWN_AT_FIRST = 64_000
"""Bytes of a content that are read and shown until the user asks for more."""
_ANSWER_LIMIT = 2_000_000
_NAME, _TOKENS = 24, 9
_MOST_ROWS = 200
"""Parts that are listed; of a longer conversation those at its end."""


@dataclass(frozen=True, slots=True)
class StepContent:
    """The document of one tab of a step; ``empty`` names the tabs that have nothing to show."""

    tab: str
    document: Document
    empty: frozenset[str] = frozenset()
    wholly_coloured: bool = True


def load_content(
    reader: SessionReader,
    step: StepRow,
    wanted: str | None,
    limit: int = SHOWN_AT_FIRST,
    coloured: int = COLOURED_AT_FIRST,
    *,
    remarks: Sequence[str] = (),
) -> StepContent:
    """Read and lay out the wanted tab of a step, or the one that says most if that is empty or none is wanted.

    Args:
        reader: The session.
        step: The step.
        wanted: A name of :data:`TABS`, None for what tells most.
        limit: Bytes of a content that are read.
        coloured: Characters of an observation that get their colours now.
        remarks: What people said of the step, which stands above it.
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
        document = plain(thought)
    elif tab == "Observation":
        size = step.observation_size or reader.size(step.observation_blob)
        text = reader.shown(step.observation_blob, f"the observation of {_named(step)}", limit)
        path = {"read_file": step.target, "list_directory": "list.json"}.get(step.action, "")
        document = code(text, "" if text.startswith("Error:") else path, cut=cut_of(size, limit), coloured=coloured)
    elif tab == "Prompt":
        document = _prompt(reader, step, limit)
    elif tab == "Raw":
        document = _raw(reader, step, answer, limit)
    else:
        document = _action(step, action)
    whole = tab != "Observation" or min(len(document.text), COLOURED_AT_MOST) <= coloured
    if step.problem and tab in {"Thought", "Action", "Observation"}:
        sign, style = ("!", "invalid") if step.kind == "invalid" else ("✗", "bad")
        problem = styled((f"{sign} {step.problem}", style), indent=2)
        text = f"{problem.text}\n{document.text}".strip() if tab == "Action" else document.text
        document = Document((problem, Line(""), *document.lines), text, document.cut)
    if remarks:
        above = [styled((f"✎ {one_line(text, 2000)}", "notice"), indent=2) for text in remarks]
        document = replace(document, lines=(*above, Line(""), *document.lines))
    return StepContent(tab, document, empty, whole)


def _action(step: StepRow, action: str) -> Document:
    if step.kind == "error":
        return note("No answer was received, so there is no action.", "Raw lists the attempts.")
    title = heading(step.action, step.target)
    if not action:
        return joined([title, note("", "The answer holds no action; Raw shows it as it came.")])
    try:
        decoded = json.loads(action, strict=False)
    except (ValueError, RecursionError):
        return joined([title, note(""), code(action, "action.txt")])
    long_texts: list[Document] = []
    if isinstance(decoded, dict) and isinstance(decoded.get("kwargs"), dict):
        decoded["kwargs"] = {key: _shortened(key, value, long_texts) for key, value in decoded["kwargs"].items()}
    pretty = code(json.dumps(decoded, indent=2, ensure_ascii=False), "action.json")
    bare = Document(tuple(Line(line.text, line.spans, indent=line.indent) for line in pretty.lines), pretty.text)
    return joined([title, note(""), bare, *long_texts])


def _shortened(key: str, value: Any, long_texts: list[Document]) -> Any:
    """Move a text of several lines out of the JSON, where it would be one endless line."""
    if not isinstance(value, str) or len(value) < 200:
        return value
    long_texts += [note(""), heading(key, f"{len(value):,} characters"), plain(value)]
    return f"… {len(value):,} characters, below"


def cut_of(size: int, shown: int) -> str | None:
    """Return how much of a text is not shown, and how to see it; None where all of it is."""
    return _with_more(f"{size_of(size - shown)} of {size_of(size)} are not shown.") if size > shown else None


def _with_more(said: str) -> str:
    return f"… {said} Press {key_of('trajectory.more')} for more."


def _message(reader: SessionReader, title: Document, digest: str, size: int, room: int) -> tuple[list[Document], int]:
    """Return a text under its title, and how many of its bytes are shown."""
    text = reader.shown(digest, "a message of a request", room)
    shown = len(text.encode("utf-8", "replace"))
    return [note(""), title, plain(text, cut=cut_of(size, shown) if size > shown + 8 else None)], shown


def _raw(reader: SessionReader, step: StepRow, answer: str, limit: int) -> Document:
    call = reader.call(step.call_id) if step.call_id is not None else None
    if call is None:
        return joined([note("The call of this step is not in the session; this is the answer.", ""), plain(answer)])
    parts = [_facts(call), *_messages(reader, call, limit)]
    if call.error:
        parts += [note(""), heading("error", call.error_kind or ""), plain(call.error, style="bad")]
    for name, blob, detail in (
        ("reasoning", call.reasoning_blob, ""),
        ("answer", call.answer_blob, call.finish_reason),
    ):
        if blob:
            parts += _message(reader, _role(name, reader.size(blob), detail or ""), blob, reader.size(blob), limit)[0]
    return joined(parts)


def _messages(reader: SessionReader, call: CallRow, limit: int) -> list[Document]:
    """Return the newest messages that fit into ``limit`` bytes, in their order."""
    listed = reader.message_digests(call)
    if not listed:
        return [note("", "The messages of this call cannot be read.")]
    parts: list[list[Document]] = []
    room = limit
    for role, digest in reversed(listed):
        if room <= 0:
            break
        size = reader.size(digest)
        most = min(room, limit // 4 if len(listed) > 4 else room)
        some, shown = _message(reader, _role(role, size), digest, size, most)
        parts.append(some)
        room -= shown
    documents = [document for group in reversed(parts) for document in group]
    if left_out := len(listed) - len(parts):
        said = f"{left_out:,} earlier {'message is' if left_out == 1 else 'messages are'} not shown."
        documents = [note(""), plain(_with_more(said), style="notice"), *documents]
    return documents


def _role(role: str, size: int, detail: str = "") -> Document:
    behind = "  ".join(filter(None, (size_of(size), detail)))
    return of_lines([styled((f"▎{role}", "role"), (f"  {behind}", "dim"))])


def _facts(call: CallRow) -> Document:
    other = f" (answered by {call.answered_by})" if call.answered_by not in (None, call.model) else ""
    tokens = "–"
    if call.prompt_tokens is not None:
        cached = f" ({call.cached_tokens:,} cached)" if call.cached_tokens else ""
        tokens = f"{call.prompt_tokens:,} in{cached} · {call.completion_tokens or 0:,} out"
    attempts = _decoded(call.attempts)
    if isinstance(attempts, list):
        errors = [str(item.get("error")) for item in attempts if isinstance(item, dict) and item.get("error")]
        attempts = f"{len(attempts)}" + (f": {'; '.join(errors)}" if errors else "")
    settings = _decoded(call.sampling)
    if isinstance(settings, dict):
        given = [f"{key} {value}" for key, value in settings.items() if value not in (None, [], "")]
        settings = " · ".join(given) or "the provider's defaults"
    rows = {
        "model": f"{call.model}{other}",
        "settings": settings,
        "tokens": tokens,
        "latency": f"{call.latency_s:.2f} s" if call.latency_s is not None else "–",
        "cost": money(call.cost_usd) if call.cost_usd is not None else "unknown",
        "attempts": attempts,
        "source": call.source,
    }
    return of_lines([styled((f"{name:<9} ", "dim"), (str(value), ""), indent=10) for name, value in rows.items()])


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _named(step: StepRow) -> str:
    return f"step {step.number} of trial {step.trial_id}"


def _prompt(reader: SessionReader, step: StepRow, limit: int) -> Document:
    sent = read_sent(reader, step)
    if sent is None:
        return note("No request is recorded for this step: nothing was sent to a model.")
    if not sent.parts:
        return note("The messages of this request cannot be read.")
    parts = [_table(sent)]
    room = limit
    new_title = f"new since step {sent.previous}" if sent.previous is not None else "the first request"
    for title, is_new in ((new_title, True), ("as before", False)):
        some = [part for part in sent.parts if part.new is is_new]
        if some:
            parts += [note(""), heading(title)]
        for at, part in enumerate(some):
            if room <= 0:
                left = len(some) - at
                said = _with_more(f"{left:,} more {'part' if left == 1 else 'parts'}.")
                parts += [note(""), plain(said, style="notice")]
                break
            role = _role(one_line(part.role, 20), part.size, _name_of(part))
            more, shown = _message(reader, role, part.digest, part.size, min(room, part.size + 400))
            parts += more[at == 0 :]  # the first one stands right below its heading
            room -= shown
    document = joined(parts)
    return replace(document, cut="…") if room <= 0 else document


def _table(sent: Sent) -> Document:
    """Return what was sent: the sums, and a row for each part."""
    known = sent.tokens
    whole = f"{known:,} tokens sent" if known is not None else "the tokens of this request were not recorded"
    more = [f"{len(sent.parts):,} messages"]
    if sent.previous is not None and known is not None and sent.previous_tokens is not None:
        more.append(f"{known - sent.previous_tokens:+,} since step {sent.previous}".replace("-", "−"))
    if sent.call.cached_tokens:
        more.append(f"{sent.call.cached_tokens:,} cached")
    said = ["The whole is counted by the provider; ≈ is a share by bytes of what a request grew by."]
    if sent.shape:
        said.append(f"The answer was held to a grammar of {size_of(sent.shape)}.")
    lines = [styled((whole, "heading"), *((f" · {one}", "") for one in more), indent=2)]
    lines += [styled((one, "dim"), indent=2) for one in said]
    lines += [Line(""), styled((f"  {'part':<{_NAME}}{'tokens':>{_TOKENS}}{'size':>9}", "dim"), indent=-1)]
    left_out = max(0, len(sent.parts) - _MOST_ROWS)
    if left_out:
        lines.append(styled((f"  … {left_out:,} earlier parts", "dim"), indent=-1))
    for part in sent.parts[left_out:]:
        lines.append(_row(part, "+" if part.new else " ", "strong" if part.new else ""))
    lines += [_row(part, "−", "dim", " no longer sent") for part in sent.dropped[-_MOST_ROWS:]]
    return of_lines(lines)


def _row(part: SentPart, sign: str, style: str, more: str = "") -> Line:
    tokens = "–" if part.tokens is None else f"{'' if part.exact else '≈ '}{part.tokens:,.0f}"
    text = f"{sign} {_name_of(part) + more:<{_NAME}}{tokens:>{_TOKENS}}{size_of(part.size):>9}"
    return styled((text, style), indent=-1)


def _name_of(part: SentPart) -> str:
    """Return ``observation of step 3``."""
    named = part.kind in {"answer", "observation"} and part.step is not None
    return f"{part.kind} of step {part.step}" if named else part.kind
