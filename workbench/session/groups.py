"""Which candidates are samples of the same thing: the group, and how an older file tells it.

Every figure over samples (pass@k, verdicts, cost) is a figure of one group. The documentation is a column of tasks, the
rest are columns of candidates.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.session.identity import candidate_id

CONTROLS = ("reference", "stub")
"""Evaluators that ask nobody: the original body, which must pass, and an empty one, which must fail."""
AGENT_LIMITS = {"max_steps": "limit of steps", "read_limit": "characters read at once"}
"""What an agent may do, by the key in a run's plan."""
NO_SETTINGS = "{}"


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """What every sample of a group has in common; two samples that differ in one of these are never counted together.

    Attributes:
        docs: The doc system that documented the tasks.
        evaluator: Who wrote the bodies.
        prompt: Version of the prompt's wording; empty where nobody was asked.
        context: Version of the context policy; empty where nobody was asked.
        settings: Sampling settings as canonical JSON text, see :func:`canonical`.
        docs_scope: Where the docstrings stand: ``repository`` or, also in files of older versions, ``target``.
    """

    docs: str
    evaluator: str
    prompt: str = ""
    context: str = ""
    settings: str = NO_SETTINGS
    docs_scope: str = "repository"

    @property
    def docs_words(self) -> str:
        """The doc system and, where it is not the usual one, the scope: ``none``, ``none (target)``."""
        return docs_words(self.docs, self.docs_scope)

    @property
    def is_control(self) -> bool:
        """Whether its bodies come from no model but from the task itself."""
        return self.evaluator in CONTROLS

    @property
    def arguments(self) -> tuple[str, str, str, str]:
        return self.evaluator, self.prompt, self.context, self.settings

    def name(self, among: Iterable[Group]) -> str:
        """Return the evaluator's name, followed by what tells the group from others of that evaluator.

        Args:
            among: The groups that are shown together; may include this one.
        """
        same = [other for other in among if other.evaluator == self.evaluator and other != self]
        parts = [self.evaluator]
        for field in ("prompt", "context", "settings", "docs_words"):
            mine = getattr(self, field)
            if any(getattr(other, field) != mine for other in same):
                parts.append(f"docs {mine}" if field == "docs_words" else mine or f"no {field}")
        return " · ".join(parts)

    def to_json(self) -> dict[str, Any]:
        return {
            "docs": self.docs,
            "docs_scope": self.docs_scope,
            "evaluator": self.evaluator,
            "prompt": self.prompt or None,
            "context": self.context or None,
            "settings": settings_of(self.settings),
        }


def docs_words(docs: str, scope: str) -> str:
    """Return a doc system's name with its scope where that is not ``repository``."""
    return docs if scope == "repository" else f"{docs} ({scope})"


def planned_docs(plan: Mapping[str, Any]) -> str:
    """Return :func:`docs_words` of what a run was asked for, "" where its plan does not say."""
    docs, scope = plan.get("docs"), plan.get("docs_scope", "target")
    return docs_words(docs, scope) if isinstance(docs, str) and docs and isinstance(scope, str) else ""


OF_GROUP = "evaluator = ? AND prompt = ? AND context = ? AND settings = ?"
"""SQL that picks a group among the candidates of a run's tasks; see :attr:`Group.arguments`."""


def canonical(settings: Mapping[str, object]) -> str:
    """Return sampling settings as text that is equal for equal settings: sorted keys, no spaces, ASCII."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def settings_of(text: str) -> dict[str, Any]:
    """Return the settings that :func:`canonical` wrote, {} for anything else."""
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def former_groups(connection: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    """Return (candidate, prompt, context, settings) of every candidate of a file whose schema is older than 4.

    Prompt and context follow from what the run was asked for: a candidate's id names them. Settings are those that the
    candidate's call recorded; a candidate without a call has those of most others of its evaluator and prompt.
    """
    plans = {run: _asks(config) for run, config in connection.execute("SELECT id, config FROM main.runs").fetchall()}
    rows = connection.execute(
        "SELECT c.id, c.run_id, c.task_id, c.evaluator, c.sample, calls.sampling FROM main.candidates AS c "
        "LEFT JOIN main.calls ON calls.id = c.call_id"
    ).fetchall()
    found: list[tuple[str, tuple[str, str, str, str], str | None]] = []
    used: dict[tuple[str, str, str, str], Counter[str]] = {}
    for key, run, task, evaluator, sample, sampling in rows:
        prompt, context = _asked(plans.get(run, ()), key, task, evaluator, sample)
        kind = (str(run), str(evaluator), prompt, context)
        settings = None if sampling is None else canonical(settings_of(str(sampling)))
        if settings is not None:
            used.setdefault(kind, Counter())[settings] += 1
        found.append((key, kind, settings))
    usual = {kind: min(counts, key=lambda text: (-counts[text], text)) for kind, counts in used.items()}
    return [
        (key, kind[2], kind[3], settings if settings is not None else usual.get(kind, NO_SETTINGS))
        for key, kind, settings in found
    ]


def _asks(config: object) -> list[tuple[str, str, str]]:
    """Return (evaluator, prompt, context) of everything that a run was asked for; what cannot be read is left out."""
    plan = settings_of(config) if isinstance(config, str) else {}
    listed = plan.get("asks")
    asks = [plan, *(listed if isinstance(listed, list) else ())]
    return list(
        dict.fromkeys(
            (str(ask.get("evaluator") or ""), str(ask.get("prompt") or ""), str(ask.get("context") or ""))
            for ask in asks
            if isinstance(ask, dict)
        )
    )


def _asked(
    asks: Iterable[tuple[str, str, str]], key: object, task: object, evaluator: object, sample: object
) -> tuple[str, str]:
    mine = [(prompt, context) for name, prompt, context in asks if name == evaluator]
    if len(mine) == 1:
        return mine[0]
    for prompt, context in mine:
        version = f"{prompt}/{context}" if prompt else ""
        if isinstance(sample, int) and candidate_id(str(task), str(evaluator), version, sample) == key:
            return prompt, context
    return "", ""
