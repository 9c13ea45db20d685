"""A scripted judge on the loopback server, next to the scripted author: it gives points, or fails on request."""

from __future__ import annotations

import json
from collections.abc import Callable

from engine.author import Author
from loopback.server import Reply, failure

Body = dict[str, object]
MAXIMA = {
    "purpose": 9,
    "dependencies": 6,
    "run_command": 6,
    "key_features": 5,
    "clarity": 12,
    "completeness": 10,
    "formatting": 8,
}
REFUSED = failure(400, "this judge is asleep")
NO_POINTS = "I would rather not."


def points(body: Body) -> str:
    """The answer of a judge that gives half of everything."""
    asked = [key for key in MAXIMA if f"- {key}:" in str(body["messages"])]
    return json.dumps({**{key: MAXIMA[key] / 2 for key in asked}, "reasoning": "seen"})


class Court:
    """Answers as the author, and as the judge ``openai/judge``.

    Args:
        judge: Answers the judge's requests; set it to another one at any time.
    """

    def __init__(self, judge: Callable[[Body], str | Reply] = points) -> None:
        self.judge = judge
        self.author = Author()
        self.judged = 0
        self.written = 0

    def __call__(self, body: Body) -> str | Reply:
        if str(body["model"]).startswith(("judge", "gpt-4o")):
            self.judged += 1
            return self.judge(body)
        self.written += 1
        return self.author(body)


def is_quality(body: Body) -> bool:
    """Whether tier 4 is asked about."""
    return "- clarity:" in str(body["messages"])
