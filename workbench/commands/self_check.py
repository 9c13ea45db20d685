"""The line on self-checks at the end of a command."""

from __future__ import annotations

from typing import Any


def self_check_line(checked: dict[str, Any]) -> str:
    """Return the quiet line: ``self-check: reference 38/38 · stub 0/38 · cold re-checks 41, disagreements 0``; "" for none."""
    parts = [f"{name} {one['passed']}/{one['tested']}" for name, one in checked["controls"].items()]
    if checked["rechecks"]:
        parts.append(f"cold re-checks {checked['rechecks']}, disagreements {checked['disagreements']}")
    return f"self-check: {' · '.join(parts)}" if parts else ""
