"""Compare sequences and texts, and read the texts of sessions, which may be missing, damaged or too long.

Matching lines are shown side by side, with the differing words found within them.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from workbench.base.text import clean, one_line
from workbench.session.row_reader import TextDamaged

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, TaskRow

MOST_BYTES = 400_000  # maximum bytes of a text to compare: about 60,000 words
_JUNK_FROM = 2000  # if both texts have more lines, frequent lines are not matched, because that takes quadratic time
# maximum product of the lengths for finding the longest common subsequence; one bit per cell takes 50 MB
MOST_CELLS = 400_000_000
ALIKE = 0.4  # minimum Dice coefficient of the words in matching lines
MOST_LINE_PAIRS = 20_000  # a longer stretch without equal lines is divided into blocks

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_WORDS = re.compile(r"\w+")
# number of passes over the common runs of a line: dropping a run lengthens the differences next to other runs
_PASSES = 4
_NO_WORDS = 0.05  # weight of equal lines without words, such as empty lines, which is just enough to break a tie

Places = list[tuple[int, int]]


def line_diff(
    before: Sequence[str], after: Sequence[str], around: int = 3, key: Callable[[str], str] = str
) -> list[str]:
    """Return the hunks of a diff with ``around`` lines of context; lines with the same ``key`` count as equal.

    The first line of a hunk begins with ``@``; the others begin with ``-``, ``+`` or a space, followed by a space.
    """
    keys = [*map(key, before)], [*map(key, after)]
    if keys[0] == keys[1]:
        return []
    lines = []
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=len(before) + len(after) > _JUNK_FROM)
    for group in matcher.get_grouped_opcodes(around):
        lines.append(f"@@ lines {group[0][1] + 1}–{group[-1][2]} → {group[0][3] + 1}–{group[-1][4]} @@")
        for tag, from_before, to_before, from_after, to_after in group:
            lines += [f"{' ' if tag == 'equal' else '-'} {line}" for line in before[from_before:to_before]]
            lines += [f"+ {line}" for line in after[from_after:to_after] if tag != "equal"]
    return lines


def line_diff_words(diff: Iterable[str]) -> str:
    """Return a text such as ``+3 −1 lines``, or ``the same``."""
    signs = [line[0] for line in diff]
    return f"+{signs.count('+'):,} −{signs.count('-'):,} lines" if signs else "the same"


def without_margin(body: str) -> str:
    """Remove the indentation of a body's first line from all of its lines, since models indent arbitrarily."""
    lines = body.strip("\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    margin = len(first) - len(first.lstrip(" \t"))
    return "\n".join(line[min(margin, len(line) - len(line.lstrip(" \t"))) :].rstrip() for line in lines)


# -- sequences


def longest_common(a: Sequence[Hashable], b: Sequence[Hashable], most_cells: int = MOST_CELLS) -> Places:
    """Return the index pairs of a longest common subsequence.

    A common prefix and suffix are matched first. If the product of the remaining lengths exceeds ``most_cells``, the
    sequences are matched in blocks; the result is then a common subsequence, but not necessarily the longest.
    """
    start, end = 0, 0
    shorter = min(len(a), len(b))
    while start < shorter and a[start] == b[start]:
        start += 1
    while end < shorter - start and a[-1 - end] == b[-1 - end]:
        end += 1
    pairs = [(place, place) for place in range(start)]
    for of_a, of_b in blocks(range(start, len(a) - end), range(start, len(b) - end), most_cells):
        found = _matched(a[of_a.start : of_a.stop], b[of_b.start : of_b.stop])
        pairs += [(of_a[i], of_b[j]) for i, j in found]
    return pairs + [(len(a) - place, len(b) - place) for place in range(end, 0, -1)]


def align(together: Places, a: int, b: int) -> Iterator[tuple[int | None, int | None]]:
    """Yield the pairs, and between them the unmatched indices of A, then of B, each with None for the other side."""
    next_a = next_b = 0
    for i, j in [*together, (a, b)]:
        yield from ((place, None) for place in range(next_a, i))
        yield from ((None, place) for place in range(next_b, j))
        if i < a:
            yield i, j
        next_a, next_b = i + 1, j + 1


def blocks(a: range, b: range, most_cells: int) -> list[tuple[range, range]]:
    """Divide both ranges into the same number of equal parts, so that each pair has at most ``most_cells`` cells."""
    if not a or not b:
        return []
    count = min(max(1, math.ceil(math.sqrt(len(a) * len(b) / most_cells))), len(a), len(b))

    def part(of: range, at: int) -> range:
        return of[len(of) * at // count : len(of) * (at + 1) // count]

    return [(part(a, at), part(b, at)) for at in range(count)]


def _matched(a: Sequence[Hashable], b: Sequence[Hashable]) -> Places:
    """Return a longest common subsequence, found by the bit-parallel algorithm of Hyyrö (2004).

    Sequences are reversed so that early matches are preferred; where either item may be skipped, the sides take turns.
    Row ``j`` is an integer with a bit for each index ``i`` of ``a``: 0 where the longest common subsequence of
    ``a[: i + 1]`` and ``b[:j]`` is longer than that of ``a[:i]`` and ``b[:j]``.
    """
    a, b = a[::-1], b[::-1]
    places: dict[Hashable, int] = {}
    for i, item in enumerate(a):
        places[item] = places.get(item, 0) | 1 << i
    every = (1 << len(a)) - 1
    rows = [every]
    for item in b:
        row = rows[-1]
        grown = row & places.get(item, 0)
        rows.append(((row + grown) | (row - grown)) & every)

    def length(row: int, places: int) -> int:
        return places - (row & (1 << places) - 1).bit_count()

    pairs = []
    i, j = len(a), len(b)
    passed_a = passed_b = 0  # number of lines since the last match
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            passed_a = passed_b = 0
            pairs.append((len(a) - 1 - i, len(b) - 1 - j))
        elif rows[j] >> (i - 1) & 1 and (passed_a <= passed_b or length(rows[j], i) > length(rows[j - 1], i)):
            i, passed_a = i - 1, passed_a + 1
        else:
            j, passed_b = j - 1, passed_b + 1
    return pairs


# -- words of texts


Pieces = tuple[tuple[str, bool], ...]  # runs of a line, each with whether the other text also has it


@dataclass(frozen=True, slots=True)
class LinePair:
    """Two matching lines, or an unmatched line and None."""

    left: Pieces | None
    right: Pieces | None

    @property
    def same(self) -> bool:
        return self.left is not None and self.left == self.right and all(same for _, same in self.left)


def word_diff(left: str | None, right: str | None) -> tuple[LinePair, ...]:
    """Compare two texts by lines and words; a missing text is None and has no lines.

    Equal lines are matched by their longest common subsequence, and the lines between them by their common words, in
    order. Words are compared within matching lines, again by a longest common subsequence. Joining the left lines
    yields the left text, and likewise on the right.
    """
    a, b = ([] if text is None else text.split("\n") for text in (left, right))
    pairs = []
    for i, j in align(_lines_together(a, b), len(a), len(b)):
        if i is not None and j is not None:
            pairs.append(_compared(a[i], b[j]))
        else:
            pairs.append(LinePair(*(None if at is None else ((of[at], False),) for at, of in ((i, a), (j, b)))))
    return tuple(pairs)


def _lines_together(a: Sequence[str], b: Sequence[str]) -> Places:
    # Lines without words, such as empty lines, occur too often to be anchors, so leave them out.
    telling_a, telling_b = ([place for place, line in enumerate(of) if _WORDS.search(line)] for of in (a, b))
    equal = longest_common([a[place] for place in telling_a], [b[place] for place in telling_b])
    together: Places = []
    next_a = next_b = 0
    for i, j in [*((telling_a[i], telling_b[j]) for i, j in equal), (len(a), len(b))]:
        for of_a, of_b in blocks(range(next_a, i), range(next_b, j), MOST_LINE_PAIRS):
            found = _most_alike([a[place] for place in of_a], [b[place] for place in of_b])
            together += [(of_a[x], of_b[y]) for x, y in found]
        if i < len(a):
            together.append((i, j))
        next_a, next_b = i + 1, j + 1
    return together


def _most_alike(a: Sequence[str], b: Sequence[str]) -> Places:
    words_a, words_b = ([frozenset(_WORDS.findall(line.casefold())) for line in of] for of in (a, b))
    # For each prefix of b: the weight of the best pairs, and these pairs as a linked list of (i, j, earlier pairs).
    best: list[tuple[float, Any]] = [(0.0, None)] * (len(b) + 1)
    for i, mine in enumerate(words_a):
        above, best = best, best[:1]
        for j, theirs in enumerate(words_b):
            most = above[j + 1] if above[j + 1][0] >= best[j][0] else best[j]
            if mine and theirs:
                weight = 2 * len(mine & theirs) / (len(mine) + len(theirs))
            else:
                weight = _NO_WORDS if a[i] == b[j] else 0.0
            before, pairs = above[j]
            if (weight >= ALIKE or weight == _NO_WORDS) and before + weight > most[0]:
                most = before + weight, (i, j, pairs)
            best.append(most)
    together, last = [], best[-1][1]
    while last:
        i, j, last = last
        together.append((i, j))
    return together[::-1]


def _compared(left: str, right: str) -> LinePair:
    if left == right:
        pieces = ((left, True),)
        return LinePair(pieces, pieces)
    a, b = _TOKENS.findall(left), _TOKENS.findall(right)
    runs = _without_chance(a, b, longest_common(a, b))
    return LinePair(*(_pieces(of, [(run[side], run[2]) for run in runs]) for side, of in ((0, a), (1, b))))


def _without_chance(a: Sequence[str], b: Sequence[str], pairs: Places) -> list[tuple[int, int, int]]:
    """Return the runs of common tokens (index in a, index in b, count) without chance matches.

    A match is due to chance if it is no longer than the differences on either side, such as "in the" within different
    sentences. The beginning and end of a line count as matches.
    """
    starts_a, starts_b = ([*accumulate(map(len, of), initial=0)] for of in (a, b))
    runs = []
    for _, of in groupby(enumerate(pairs), key=lambda one: (one[1][0] - one[0], one[1][1] - one[0])):
        stretch = [pair for _, pair in of]
        runs.append((*stretch[0], len(stretch)))

    def apart(run: tuple[int, int, int], following: tuple[int, int, int]) -> int:
        # the number of characters between two runs, in the text with more of them
        in_a = starts_a[following[0]] - starts_a[run[0] + run[2]]
        return max(in_a, starts_b[following[1]] - starts_b[run[1] + run[2]])

    for _ in range(_PASSES):
        kept = [(0, 0, 0)]
        for run, following in zip(runs, [*runs[1:], (len(a), len(b), 0)], strict=False):
            size = starts_a[run[0] + run[2]] - starts_a[run[0]]
            if size > min(apart(kept[-1], run), apart(run, following)):
                kept.append(run)
        if len(kept) > len(runs):
            break
        runs = kept[1:]
    return runs


def _pieces(tokens: Sequence[str], runs: Iterable[tuple[int, int]]) -> Pieces:
    same = {place for start, size in runs for place in range(start, start + size)}
    found = groupby(enumerate(tokens), key=lambda one: one[0] in same)
    return tuple(("".join(token for _, token in of), alike) for alike, of in found)


# -- texts of sessions


@dataclass(frozen=True, slots=True)
class TextSide:
    """One of two texts; ``absent`` says why there is none, ``cut`` whether only its beginning was read."""

    title: str
    text: str | None
    absent: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Texts:
    """A pane of two texts, side by side or ``under`` one another; ``page`` says whether a page includes them.

    ``words`` has the number of words in A, in B and in common runs. An ``optional`` pane is hidden while both texts are
    equal; ``of_b`` marks a pane that is only about B.
    """

    left: TextSide
    right: TextSide
    pairs: Sequence[LinePair]
    words: tuple[int, int, int]
    under: bool = False
    page: bool = True
    optional: bool = False
    of_b: bool = False

    @property
    def same(self) -> bool:
        return self.left.text == self.right.text

    @property
    def summary(self) -> str:
        if self.left.absent or self.right.absent:
            return ""
        if self.same:
            return "the same"
        a, b, common = self.words
        return f"{common:,} of {a:,} and {b:,} words in common"


def compare_all(left: object, right: object, *names: str) -> dict[str, Texts]:
    """Compare the texts with these names; all panes but the first are optional."""
    return {name: compare_texts(getattr(left, name), getattr(right, name), optional=name != names[0]) for name in names}


def alike(texts: Mapping[str, Texts]) -> str:
    """Return a text about the optional texts, such as ``docstring the same · prompt differs``."""
    return " · ".join(f"{name} {'the same' if one.same else 'differs'}" for name, one in texts.items() if one.optional)


def compare_texts(left: TextSide, right: TextSide, **how: bool) -> Texts:
    pairs = word_diff(left.text, right.text)
    common = (text for pair in pairs for text, same in pair.left or () if same)
    a, b, both = (
        sum(len(_WORDS.findall(text)) for text in of) for of in ((left.text or "",), (right.text or "",), common)
    )
    return Texts(left, right, pairs, (a, b, both), **how)


def read_text(reader: SessionReader, digest: str | None, title: str, of: str, absent: str) -> TextSide:
    """Read a text of a session.

    ``of`` names the text in the message if it is damaged, and ``absent`` is the reason if there is none.
    """
    if digest is None:
        return TextSide(title, None, one_line(absent, 300))
    try:
        text = reader.text(digest, MOST_BYTES, of=of)
    except TextDamaged as error:
        return TextSide(title, None, one_line(str(error), 300))
    return TextSide(title, clean(text), cut=reader.size(digest) > MOST_BYTES)


def docstring_of(reader: SessionReader, task: TaskRow, width: int = 60) -> TextSide:
    title = f"docs {one_line(task.docs_words, width)}"
    return read_text(reader, task.docstring_blob, title, f"the docstring of task {task.id}", "no docstring")


def prompt_of(reader: SessionReader, task: TaskRow, candidate: CandidateRow | None = None) -> TextSide:
    """Return the messages of a candidate's call, or else the prompt stored with the task, from the first request."""
    call = reader.call(candidate.call_id) if candidate is not None and candidate.call_id is not None else None
    versions, messages = kept_prompt(reader, task)
    if call is not None:
        messages = reader.messages(call) or messages
    if candidate is not None:
        versions = candidate.prompt, candidate.context
    title = "prompt " + one_line(" · ".join(filter(None, versions)) or "sent", 60)
    text = "\n\n".join(f"▎{one_line(role, 40)}\n{clean(content)}" for role, content in messages)
    return TextSide(title, text) if text else TextSide(title, None, "no prompt is recorded")


def kept_prompt(reader: SessionReader, task: TaskRow) -> tuple[Iterable[str], list[tuple[str, str]]]:
    """Return the prompt version, the context policy and the messages; an unreadable prompt yields a single message."""
    kept = (
        reader.text_or_none(task.prompt_blob, f"the prompt of task {task.id}") if task.prompt_blob is not None else ""
    )
    try:
        found = json.loads(kept or "")
        messages = [(str(role), str(content)) for role, content in found["messages"]]
        return [str(found.get(name) or "") for name in ("prompt", "context")], messages
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return (), [("prompt", kept)] if kept else []
