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
    plain,
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


@dataclass(frozen=True, slots=True)
class StepContent:
    """The document of one tab of a step; ``empty`` names the tabs that have nothing to show."""

    tab: str
    document: Document
    empty: frozenset[str]
    wholly_coloured: bool = True


def load_content(
    reader: SessionReader,
    step: StepRow,
    wanted: str | None,
    limit: int = SHOWN_AT_FIRST,
    coloured: int = COLOURED_AT_FIRST,
) -> StepContent:
    """Read and lay out the wanted tab of a step, or the one that says most if that is empty or none is wanted.

    Args:
        reader: The session.
        step: The step.
        wanted: A name of :data:`TABS`, None for what tells most.
        limit: Bytes of a content that are read.
        coloured: Characters of an observation that get their colours now.
    """
    answer = reader.shown(step.answer_blob, f"the answer of {_named(step)}", _ANSWER_LIMIT)
    thought, action = split_answer(answer)
    if step.kind in {"plan", "invalid"} and not action:
        thought = answer.strip()
    empty = set()
    if not thought:
        empty.add("Thought")
    if not step.observation_blob:
        empty.add("Observation")
    if step.call_id is None:
        empty.add("Prompt")
    if step.call_id is None and not answer:
        empty.add("Raw")
    tab = wanted if wanted and wanted not in empty else _telling(step, empty)
    if tab == "Thought":
        document = _thought(step, thought)
    elif tab == "Observation":
        document = _observation(reader, step, limit, coloured)
    elif tab == "Prompt":
        document = load_prompt(reader, step, limit)
    elif tab == "Raw":
        document = _raw(reader, step, answer, limit)
    else:
        document = _action(step, action)
    whole = tab != "Observation" or min(len(document.text), COLOURED_AT_MOST) <= coloured
    return StepContent(tab, document, frozenset(empty), whole)


def with_remarks(content: StepContent, remarks: Sequence[str]) -> StepContent:
    """Return the content with people's remarks on the step above it."""
    if not remarks:
        return content
    lines = [Line(f"✎ {one_line(text, 2000)}", ((0, 2_002, "notice"),), indent=2) for text in remarks]
    document = content.document
    return replace(content, document=replace(document, lines=(*lines, Line(""), *document.lines)))


def _telling(step: StepRow, empty: set[str]) -> str:
    order = {"tool": ("Observation", "Action"), "plan": ("Thought",), "invalid": ("Thought", "Raw")}
    for tab in order.get(step.kind, ("Action",)):
        if tab not in empty:
            return tab
    return "Action"


def _thought(step: StepRow, thought: str) -> Document:
    if not thought:
        return note("The model wrote nothing before its action.")
    body = plain(thought)
    return replace(joined([_problem(step), body]), text=body.text) if step.problem else body


def _problem(step: StepRow) -> Document:
    text = f"! {step.problem}" if step.kind == "invalid" else f"✗ {step.problem}"
    return Document(
        (Line(text, ((0, len(text), "invalid" if step.kind == "invalid" else "bad"),), indent=2), Line("")), text
    )


def _action(step: StepRow, action: str) -> Document:
    parts: list[Document] = []
    if step.problem:
        parts.append(_problem(step))
    if step.kind == "error":
        parts.append(note("No answer was received, so there is no action.", "Raw lists the attempts."))
        return joined(parts)
    parts.append(heading(step.action, step.target))
    if not action:
        parts.append(note("", "The answer holds no action; Raw shows it as it came."))
        return joined(parts)
    try:
        decoded = json.loads(action, strict=False)
    except (ValueError, RecursionError):
        return joined([*parts, note(""), code(action, "action.txt")])
    long_texts: list[Document] = []
    if isinstance(decoded, dict) and isinstance(decoded.get("kwargs"), dict):
        decoded["kwargs"] = {key: _shortened(key, value, long_texts) for key, value in decoded["kwargs"].items()}
    pretty = json.dumps(decoded, indent=2, ensure_ascii=False)
    return joined([*parts, note(""), _bare(code(pretty, "action.json")), *long_texts])


def _shortened(key: str, value: Any, long_texts: list[Document]) -> Any:
    """Move a text of several lines out of the JSON, where it would be one endless line."""
    if not isinstance(value, str) or len(value) < 200:
        return value
    long_texts += [note(""), heading(key, f"{len(value):,} characters"), plain(value)]
    return f"… {len(value):,} characters, below"


def _observation(reader: SessionReader, step: StepRow, limit: int, coloured: int) -> Document:
    if not step.observation_blob:
        return note("This step brought no observation.")
    size = step.observation_size or reader.size(step.observation_blob)
    text = reader.shown(step.observation_blob, f"the observation of {_named(step)}", limit)
    path = step.target if step.action == "read_file" else "list.json" if step.action == "list_directory" else ""
    document = code(text, path if not text.startswith("Error:") else "", cut=_cut(size, limit), coloured=coloured)
    if not step.problem:
        return document
    return replace(joined([_problem(step), document]), text=document.text, cut=document.cut)


def _cut(size: int, limit: int) -> str | None:
    if size <= limit:
        return None
    return f"… {size_of(size - limit)} of {size_of(size)} are not shown. Press {key_of('trajectory.more')} for more."


def _raw(reader: SessionReader, step: StepRow, answer: str, limit: int) -> Document:
    call = reader.call(step.call_id) if step.call_id is not None else None
    if call is None:
        return joined([note("The call of this step is not in the session; this is the answer.", ""), plain(answer)])
    parts = [_facts(call)]
    parts += _messages(reader, call, limit)
    if call.error:
        parts += [note(""), heading("error", call.error_kind or ""), plain(call.error, style="bad")]
    if call.reasoning_blob:
        reasoning = reader.shown(call.reasoning_blob, f"the reasoning of call {call.id}", limit)
        parts += [note(""), _role("reasoning", len(reasoning)), plain(reasoning)]
    if call.answer_blob:
        raw = reader.shown(call.answer_blob, f"the answer of call {call.id}", limit)
        parts += [note(""), _role("answer", reader.size(call.answer_blob), call.finish_reason or ""), plain(raw)]
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
        text = reader.shown(digest, f"a message of call {call.id}", most)
        shown = len(text.encode("utf-8", "replace"))
        body = plain(text, cut=_cut(size, shown) if size > shown + 8 else None)
        parts.append([note(""), _role(role, size), body])
        room -= shown
    left_out = len(listed) - len(parts)
    documents = [document for group in reversed(parts) for document in group]
    if left_out:
        word = "message is" if left_out == 1 else "messages are"
        documents = [
            note(""),
            plain(
                f"… {left_out:,} earlier {word} not shown. Press {key_of('trajectory.more')} for more.", style="notice"
            ),
            *documents,
        ]
    return documents


def _role(role: str, size: int, detail: str = "") -> Document:
    text = f"▎{role}"
    behind = "  ".join(item for item in (size_of(size), detail) if item)
    whole = f"{text}  {behind}"
    return Document((Line(whole, ((0, len(text), "role"), (len(text), len(whole), "dim"))),), text)


def _facts(call: CallRow) -> Document:
    answered = (
        f"{call.model} (answered by {call.answered_by})" if call.answered_by not in (None, call.model) else call.model
    )
    rows = [
        ("model", answered),
        ("settings", _settings(call.sampling)),
        ("tokens", _tokens(call)),
        ("latency", f"{call.latency_s:.2f} s" if call.latency_s is not None else "–"),
        ("cost", money(call.cost_usd) if call.cost_usd is not None else "unknown"),
        ("attempts", _attempts(call.attempts)),
        ("source", call.source),
    ]
    lines = []
    for name, value in rows:
        text = f"{name:<9} {value}"
        lines.append(Line(text, ((0, 9, "dim"),), indent=10))
    return Document(tuple(lines), "\n".join(line.text for line in lines))


def _settings(sampling: str) -> str:
    try:
        decoded = json.loads(sampling)
    except (ValueError, RecursionError):
        return sampling
    if not isinstance(decoded, dict):
        return str(decoded)
    kept = [f"{key} {value}" for key, value in decoded.items() if value not in (None, [], "")]
    return " · ".join(kept) or "the provider's defaults"


def _tokens(call: CallRow) -> str:
    if call.prompt_tokens is None:
        return "–"
    cached = f" ({call.cached_tokens:,} cached)" if call.cached_tokens else ""
    return f"{call.prompt_tokens:,} in{cached} · {call.completion_tokens or 0:,} out"


def _attempts(attempts: str) -> str:
    try:
        decoded = json.loads(attempts)
    except (ValueError, RecursionError):
        return attempts
    if not isinstance(decoded, list):
        return str(decoded)
    errors = [str(item.get("error")) for item in decoded if isinstance(item, dict) and item.get("error")]
    return f"{len(decoded)}" + (f": {'; '.join(errors)}" if errors else "")


def _bare(document: Document) -> Document:
    return Document(tuple(Line(line.text, line.spans, indent=line.indent) for line in document.lines), document.text)


def _named(step: StepRow) -> str:
    return f"step {step.number} of trial {step.trial_id}"


_NAME, _TOKENS = 24, 9
_MOST_ROWS = 200
"""Parts that are listed; of a longer conversation those at its end."""


def load_prompt(reader: SessionReader, step: StepRow, limit: int) -> Document:
    """Read and lay out what was sent for a step; ``limit`` bytes of the contents are shown."""
    sent = read_sent(reader, step)
    if sent is None:
        return note("No request is recorded for this step: nothing was sent to a model.")
    if not sent.parts:
        return note("The messages of this request cannot be read.")
    parts = [_head(sent), _table(sent), note("")]
    new = [part for part in sent.parts if part.new]
    old = [part for part in sent.parts if not part.new]
    room = limit
    for title, some in ((_new_title(sent), new), ("as before", old)):
        if some:
            parts.append(heading(title))
        for at, part in enumerate(some):
            if room <= 0:
                left = len(some) - at
                parts.append(
                    plain(
                        f"… {left:,} more {'part' if left == 1 else 'parts'}. Press {key_of('trajectory.more')} for more.",
                        style="notice",
                    )
                )
                break
            text = reader.shown(part.digest, "a message of this request", min(room, part.size + 400))
            shown = len(text.encode("utf-8", "replace"))
            cut = (
                f"… {size_of(part.size - shown)} more. Press {key_of('trajectory.more')} for more."
                if part.size > shown + 8
                else None
            )
            parts += [_prompt_role(part), plain(text, cut=cut), note("")]
            room -= shown
    cut = "…" if room <= 0 else None
    document = joined(parts)
    return Document(document.lines, document.text, cut) if cut else document


def _head(sent: Sent) -> Document:
    known = sent.tokens
    whole = f"{known:,} tokens sent" if known is not None else "the tokens of this request were not recorded"
    parts = [whole, f"{len(sent.parts):,} messages"]
    if sent.previous is not None and known is not None and sent.previous_tokens is not None:
        parts.append(f"{known - sent.previous_tokens:+,} since step {sent.previous}".replace("-", "−"))
    if sent.call.cached_tokens:
        parts.append(f"{sent.call.cached_tokens:,} cached")
    lines = [Line(" · ".join(parts), ((0, len(whole), "heading"),), indent=2)]
    said = "The whole is counted by the provider; ≈ is a share by bytes of what a request grew by."
    lines.append(Line(said, ((0, len(said), "dim"),), indent=2))
    if sent.shape:
        said = f"The answer was held to a grammar of {size_of(sent.shape)}."
        lines.append(Line(said, ((0, len(said), "dim"),), indent=2))
    return Document((*lines, Line("")), "\n".join(line.text for line in lines))


def _table(sent: Sent) -> Document:
    head = f"  {'part':<{_NAME}}{'tokens':>{_TOKENS}}{'size':>9}"
    lines = [Line(head, ((0, len(head), "dim"),), indent=-1)]
    left_out = max(0, len(sent.parts) - _MOST_ROWS)
    if left_out:
        lines.append(Line(f"  … {left_out:,} earlier parts", ((0, 60, "dim"),), indent=-1))
    for part in sent.parts[left_out:]:
        lines.append(_row(part, "+" if part.new else " ", "strong" if part.new else ""))
    lines += [_row(part, "−", "dim", " no longer sent") for part in sent.dropped[-_MOST_ROWS:]]
    return Document(tuple(lines), "\n".join(line.text for line in lines))


def _row(part: SentPart, sign: str, style: str, more: str = "") -> Line:
    tokens = "–" if part.tokens is None else f"{'' if part.exact else '≈ '}{part.tokens:,.0f}"
    text = f"{sign} {name_of(part) + more:<{_NAME}}{tokens:>{_TOKENS}}{size_of(part.size):>9}"
    return Line(text, ((0, len(text), style),) if style else (), indent=-1)


def name_of(part: SentPart) -> str:
    """Return ``observation of step 3``."""
    known = {"answer": "answer", "observation": "observation"}.get(part.kind)
    return part.kind if known is None or part.step is None else f"{known} of step {part.step}"


def _new_title(sent: Sent) -> str:
    return f"new since step {sent.previous}" if sent.previous is not None else "the first request"


def _prompt_role(part: SentPart) -> Document:
    text = f"▎{one_line(part.role, 20)}"
    whole = f"{text}  {name_of(part)} · {size_of(part.size)}"
    return Document((Line(whole, ((0, len(text), "role"), (len(text), len(whole), "dim"))),), text)
