"""Tags, stars (which are tags) and the targets of remarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.base.errors import UsageError
from workbench.base.text import one_line

if TYPE_CHECKING:
    from workbench.session.rows import LabelRow

STAR = "★"
LONGEST = 40
"""Maximum number of characters in a tag."""
MOST = 20
"""Maximum number of tags on one item."""
LONGEST_REMARK = 20_000
"""Maximum number of characters in a remark."""
SESSION = "session"
"""Item id for labels and remarks on the session itself; it cannot collide with other ids."""


def parse_tags(text: str) -> tuple[str, ...]:
    """Parse comma-separated tags, dropping duplicates. Raises UsageError if one is too long or there are too many."""
    tags = tuple(dict.fromkeys(tag for part in text.split(",") if (tag := one_line(part.strip(), 2 * LONGEST).strip())))
    long = next((tag for tag in tags if len(tag) > LONGEST), None)
    if long is not None:
        raise UsageError(f"A tag has at most {LONGEST} characters; {one_line(long, 24)} is longer.")
    if len(tags) > MOST:
        raise UsageError(f"An item has at most {MOST} tags; these are {len(tags)}.")
    return tags


def check_remark(text: str) -> str:
    """Return a remark without surrounding whitespace. Raises UsageError if it is too long."""
    remark = text.strip()
    if len(remark) > LONGEST_REMARK:
        raise UsageError(f"A remark has at most {LONGEST_REMARK:,} characters; this remark has {len(remark):,}.")
    return remark


def star_first(labels: Iterable[str]) -> list[str]:
    return sorted(labels, key=lambda label: (label != STAR, label.casefold(), label))


def in_words(labels: Iterable[str]) -> str:
    """Return labels for display, without unprintable characters."""
    return ", ".join(one_line(label, LONGEST) for label in star_first(labels))


def labels_by_item(rows: Iterable[LabelRow]) -> dict[str, tuple[str, ...]]:
    """Return the labels of each item as a whole, without those of its parts."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if not row.part:
            found.setdefault(row.item, []).append(row.label)
    return {item: tuple(labels) for item, labels in found.items()}


def labels_by_part(rows: Iterable[LabelRow]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.part, []).append(row.label)
    return {part: tuple(labels) for part, labels in found.items()}


_CRITERION = "criterion"


def criterion_part(rubric: str, tier: int, key: str) -> str:
    """Return the ``part`` of a label for one criterion of a rubric; it does not depend on the judge."""
    return f"{_CRITERION}:{rubric}:{tier}.{key}"


def criterion_of(part: str) -> tuple[str, int, str] | None:
    kind, _, rest = part.partition(":")
    rubric, _, place = rest.rpartition(":")
    tier, _, key = place.partition(".")
    return (rubric, int(tier), key) if kind == _CRITERION and rubric and tier.isdecimal() and key else None


_BETWEEN = f"#{_CRITERION}:"


def remark_target(item: str, part: str) -> str:
    """Return the target of a remark: ``TRIAL#criterion:RUBRIC:TIER.KEY`` for a criterion, or else the item."""
    return f"{item}#{part}" if criterion_of(part) is not None else item


def remarked(target: str) -> tuple[str, str]:
    """Return the item and criterion ("" for none) of a target; the inverse of :func:`remark_target`."""
    item, between, rest = target.partition(_BETWEEN)
    part = between[1:] + rest
    return (item, part) if between and criterion_of(part) is not None else (target, "")


REMARKED = f"CASE WHEN instr(item, '{_BETWEEN}') > 0 THEN substr(item, 1, instr(item, '{_BETWEEN}') - 1) ELSE item END"
"""SQL for the item of a remark; see :func:`remarked`."""


def part_in_words(part: str) -> str:
    """Return ``step 3`` or ``criterion purpose (aeo-bench)``, or "" for the whole item."""
    if part.isdecimal():
        return f"step {part}"
    found = criterion_of(part)
    return f"criterion {one_line(found[2], 60)} ({one_line(found[0], 30)})" if found else one_line(part, 60)


def differences(before: Sequence[str], wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(one for one in wanted if one not in before), tuple(one for one in before if one not in wanted)
