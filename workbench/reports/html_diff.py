"""What changed from one text to another, folded, in HTML: lines with - and +, which say without colour what colour says."""

from __future__ import annotations

from workbench.comparison.line_diff import ADDED, REMOVED, line_diff
from workbench.reports.excerpts import Excerpt, Excerpts
from workbench.reports.html_parts import details, e

MOST_CHARACTERS = 100_000
"""Of each text that is compared here: matching lines takes quadratic time at worst."""
_TAGS = {REMOVED: "del", ADDED: "ins"}


def difference(title: str, before: Excerpt, after: Excerpt, excerpts: Excerpts, *, names: tuple[str, str]) -> str:
    """Return how ``after`` differs from ``before``, or a sentence: they are the same, or cannot be compared here.

    Args:
        title: What is compared.
        before: The former text.
        after: The other one.
        excerpts: Of the report, whose allowance the lines are charged to.
        names: What each of the two is called, for the first lines.
    """
    if before.cut or after.cut or max(len(before.text), len(after.text)) > MOST_CHARACTERS:
        return f'<p class="note">{e(title)}: too long to compare here.</p>\n'
    diff = line_diff(before.text.splitlines(), after.text.splitlines())
    if not diff.hunks:
        return f'<p class="note">{e(title)}: the same.</p>\n'
    if not excerpts.has_room:
        return f'<p class="note">{e(title)}: {e(diff.words)}; this report is too long to show them.</p>\n'
    lines = [f"<b>--- {e(names[0])}\n</b><b>+++ {e(names[1])}\n</b>"]
    length = 0
    for hunk in diff.hunks:
        (first, last), (begins, ends) = hunk.before, hunk.after
        lines.append(f"<b>@@ lines {first} to {last} → {begins} to {ends} @@\n</b>")
        for sign, line in hunk.lines:
            tag = _TAGS.get(sign, "span")
            lines.append(f"<{tag}>{sign} {e(line)}\n</{tag}>")
            length += len(line)
    excerpts.charge(length)
    return details(
        f"{e(title)} <small>{e(diff.words)}</small>",
        f'<pre class="diff"><code>{"".join(lines)}</code></pre>\n',
        kind="paper",
    )
