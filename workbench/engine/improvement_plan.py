"""What an order to improve docstrings asks for, as a session keeps it. Cheap to import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from workbench.engine.plan import PlanDamaged, RegenerationPlan


@dataclass(frozen=True, slots=True)
class ImprovementPlan:
    """What is asked for."""

    # The regeneration with the original docs; its `samples` are those that the writer sees, its spend limit holds for
    # the whole order
    base: RegenerationPlan
    writer: str
    held_out: int = 5  # Samples of each docstring that the writer never sees
    below: float = 0.5  # A pass@1 below this is bad
    attempts: int = 2  # Docstrings that are tried for a function at most
    most: int = 0  # Functions that are tried at most; 0 = all that are badly documented
    second_evaluator: str = ""  # Who writes the held-out samples; empty = the evaluator of `base`

    @property
    def held_out_by(self) -> str:
        return self.second_evaluator or self.base.evaluator

    @property
    def meaning(self) -> tuple[object, ...]:
        """What makes its result another one; more attempts, more functions or another limit only lead on."""
        base = self.base
        # Once resolved, both spellings say that a request has no further fields.
        further = [] if base.extra_body in ("", "{}") else [base.extra_body]
        return (
            (base.source, base.snapshot, base.docs_scope, base.selection, base.sandbox, base.tasks),
            (base.evaluator, base.prompt, base.context, base.samples, *further),
            (self.writer, self.held_out, self.below, self.second_evaluator),
        )

    def to_json(self) -> dict[str, Any]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**values, "base": self.base.to_json()}

    @classmethod
    def from_json(cls, text: str) -> ImprovementPlan:
        """Return the plan encoded by :meth:`to_json`; unknown keys are ignored. Raises PlanDamaged: it is none."""
        try:
            values = json.loads(text)
            known = {one.name: values[one.name] for one in fields(cls) if one.name in values}
            if not isinstance(known["base"], Mapping):
                raise TypeError
            plan = cls(**{**known, "base": RegenerationPlan.from_json(known["base"])})
            # Arithmetic says whether the numbers are numbers.
            return replace(plan, below=plan.below + 0.0, attempts=plan.attempts + 0, most=plan.most + 0)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise PlanDamaged("An order to improve docstrings in this session is damaged; order it anew.") from None
