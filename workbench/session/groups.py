"""Groups: the candidates that are samples of the same request. Figures over samples always cover one group."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CONTROLS = ("reference", "stub")
"""The controls, which are evaluators without a model: the original body must pass, and a stub must fail."""
AGENT_LIMITS = {"max_steps": "limit of steps", "read_limit": "characters per read"}
"""Labels of an agent's limits, by their keys in a run's plan."""
NO_SETTINGS = "{}"
WITHOUT, SOURCES = "none", "source"
"""The contexts with which every page of a usage run is compared: no page, and the project's sources."""


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Properties that all samples of a group share; samples with different values are never counted together."""

    docs: str
    evaluator: str
    prompt: str = ""  # version of the prompt's wording; empty without a model
    context: str = ""  # version of the context policy; empty without a model
    settings: str = NO_SETTINGS  # sampling settings as canonical JSON text, see `canonical`
    # Where the docstrings are used: `repository` or `target`; `target` is also the scope of older files, which do not
    # record it
    docs_scope: str = "repository"

    @property
    def docs_words(self) -> str:
        """The doc system, with its scope if that is unusual: ``none``, ``none (target)``."""
        return docs_words(self.docs, self.docs_scope)

    @property
    def is_control(self) -> bool:
        return self.evaluator in CONTROLS

    @property
    def arguments(self) -> tuple[str, str, str, str]:
        return self.evaluator, self.prompt, self.context, self.settings

    def name(self, among: Iterable[Group]) -> str:
        """Return the evaluator's name, with whatever distinguishes this group from the evaluator's other groups."""
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
    """Return a doc system's name, with its scope unless that is ``repository``."""
    return docs if scope == "repository" else f"{docs} ({scope})"


def planned_docs(plan: Mapping[str, Any]) -> str:
    """Return :func:`docs_words` for a run's plan, or "" if the plan does not specify it."""
    docs, scope = plan.get("docs"), plan.get("docs_scope", "target")
    return docs_words(docs, scope) if isinstance(docs, str) and docs and isinstance(scope, str) else ""


OF_GROUP = "evaluator = ? AND prompt = ? AND context = ? AND settings = ?"
"""SQL that selects a group among the candidates of a run's tasks; see :attr:`Group.arguments`."""


def canonical(settings: Mapping[str, object]) -> str:
    """Return sampling settings as text that is equal for equal settings: sorted keys, no spaces, ASCII."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def settings_of(text: str) -> dict[str, Any]:
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
