"""What was sent for a step, as a document: its parts with their tokens, what is new in full, then the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import size_of
from workbench.app.toolkit.document import Document, Line, heading, joined, note, plain
from workbench.comparison import Sent, SentPart, read_sent
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import StepRow

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
            parts += [_role(part), plain(text, cut=cut), note("")]
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


def _role(part: SentPart) -> Document:
    text = f"▎{one_line(part.role, 20)}"
    whole = f"{text}  {name_of(part)} · {size_of(part.size)}"
    return Document((Line(whole, ((0, len(text), "role"), (len(text), len(whole), "dim"))),), text)
