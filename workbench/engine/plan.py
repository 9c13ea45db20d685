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
        return cls(**_kept(cls, json.loads(values) if isinstance(values, str) else values))


@dataclass(frozen=True, slots=True)
class Ask:
    """What one evaluator is asked for within a regeneration run; a run grows by further asks.

    Attributes:
        evaluator: A model, ``reference``, ``stub``, ``replay:SESSION`` or ``samples:FILE``.
        samples: Candidates per task (m).
        tasks: Ids, beginnings or globs of the tasks meant; empty = all.
        limit: Only the first so many of them; 0 = all.
        prompt: Version of the prompt's wording, see ``workbench.regeneration.PROMPTS``.
        context: Version of the context policy, see ``workbench.regeneration.POLICIES``.
        sampled_as: The model whose sampling settings are sent: the recorded one in a replay, else the evaluator.
    """

    evaluator: str
    samples: int
    tasks: tuple[str, ...] = ()
    limit: int = 0
    prompt: str = ""
    context: str = ""
    sampled_as: str = ""

    @property
    def prompt_version(self) -> str:
        """The part of a candidate's identity that says how it was asked; empty where nothing is asked."""
        return f"{self.prompt}/{self.context}" if self.prompt else ""


@dataclass(frozen=True, slots=True)
class RegenerationPlan:
    """Write the function bodies of a repository again from their documentation.

    Attributes:
        source: Id of a test case, a folder, git URL@revision or NAME==VERSION.
        docs: A doc system: original, none, llm:MODEL, folder:PATH, source:SOURCE.
        evaluator: See :class:`Ask`; empty = the default of this machine.
        samples: Candidates per task (m); 0 = 3, or 1 for reference and stub, or what a samples file holds.
        k: The k of pass@k.
        tasks: Ids, beginnings or globs of the tasks meant; empty = all.
        limit: Only the first so many tasks; 0 = all.
        controls: Whether ``reference`` and ``stub`` are tested on every task.
        sandbox: Name of a back end; empty = the strongest one here.
        prompt: Version of the prompt; empty = as fits the evaluator.
        context: Version of the context policy; empty = as fits the evaluator.
        spend_limit: US dollars, 0 = no limit.
        rebuild: Whether the tasks are built anew although the cache has them.
        asks: Everything asked for in this run so far; the fields above say what was asked for last.
        snapshot: Digest of the repository's content, once the run has fetched it.
        engine: Where candidates are tested: ``dask://HOST:PORT``; empty = on this machine.
    """

    source: str
    docs: str = "original"
    evaluator: str = ""
    samples: int = 0
    k: tuple[int, ...] = (1, 3)
    tasks: tuple[str, ...] = ()
    limit: int = 0
    controls: bool = True
    sandbox: str = ""
    prompt: str = ""
    context: str = ""
    spend_limit: float = 0.0
    rebuild: bool = False
    asks: tuple[Ask, ...] = ()
    snapshot: str = ""
    engine: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: str | Mapping[str, Any]) -> RegenerationPlan:
        """Return the plan that :meth:`to_json` (or its text) describes; unknown keys are ignored."""
        kept = _kept(cls, json.loads(values) if isinstance(values, str) else values)
        asks = tuple(Ask(**_kept(Ask, ask)) for ask in kept.get("asks", ()))
        return cls(**{**kept, "asks": asks})


def _kept(kind: type[Any], decoded: Mapping[str, Any]) -> dict[str, Any]:
    known = {item.name for item in fields(kind)}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in decoded.items() if key in known}
