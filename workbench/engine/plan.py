"""What a person asked for, as it stands in a session's runs: cheap to import, decoded by app, CLI and engine alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """Run an agent on test cases.

    Attributes:
        cases: Ids of test cases, or sources (folder, git URL@revision, NAME==VERSION).
        agent: Name of an agent, see :data:`workbench.agents.names.AGENTS`.
        model: A LiteLLM name, ``local``, ``replay:SESSION``; empty = the default of this machine.
        judge: ``offline`` or a model; empty = the default of this machine.
        repeats: Trials per case.
        first_repeat: Number of the first of them, 1 or more.
        rubrics: Rubrics to score by.
        spend_limit: US dollars, 0 = no limit.
        max_steps: Steps after which the agent must have answered.
        read_limit: Characters that ``read_file`` returns at most; 0 = as fits the model.
        judge_repeats: Times that an LLM judge scores each tier.
    """

    cases: tuple[str, ...]
    agent: str = "white"
    model: str = ""
    judge: str = ""
    repeats: int = 1
    first_repeat: int = 1
    rubrics: tuple[str, ...] = ("aeo-bench", "strict")
    spend_limit: float = 0.0
    max_steps: int = 15
    read_limit: int = 0
    judge_repeats: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: str | Mapping[str, Any]) -> DocumentPlan:
        """Return the plan that :meth:`to_json` (or its text) describes; unknown keys are ignored."""
        decoded = json.loads(values) if isinstance(values, str) else values
        known = {item.name for item in fields(cls)}
        kept: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in decoded.items() if key in known
        }
        return cls(**kept)
