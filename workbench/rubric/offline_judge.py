"""The judge that needs no model: deterministic, and named wherever its points are shown."""

from __future__ import annotations

import asyncio

from workbench.rubric import offline_accuracy, offline_dependencies, offline_quality
from workbench.rubric.judging import Brief, Question, unscored
from workbench.rubric.markdown import outline
from workbench.rubric.offline_reading import JUDGE, Reading, read
from workbench.rubric.scorecard import Criterion


class OfflineJudge:
    """Compares the README with the facts (tier 3) and with the repository (tier 4); the same input, the same points."""

    name = JUDGE

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
        """Return one criterion for each question; those that need facts are unscored without them."""
        # Reading a repository takes seconds, in which an engine has other trials to serve.
        return await asyncio.to_thread(self._answers, tier, brief)

    def _answers(self, tier: int, brief: Brief) -> list[Criterion]:
        reading = read(brief, outline(brief.readme))
        return [self._answer(tier, question, brief, reading) for question in brief.questions]

    def _answer(self, tier: int, question: Question, brief: Brief, reading: Reading) -> Criterion:
        match question.key:
            case "clarity":
                return offline_quality.clarity(question, reading)
            case "completeness":
                return offline_quality.completeness(question, reading, brief.reference_readme)
            case "formatting":
                return offline_quality.formatting(question, reading)
        if brief.facts is None:
            return unscored(tier, (question,), "offline judge: there are no facts to compare with", self.name)[0]
        match question.key:
            case "purpose":
                return offline_accuracy.purpose(question, brief.facts, reading)
            case "dependencies":
                return offline_dependencies.dependencies(question, brief.facts, reading)
            case "run_command":
                return offline_accuracy.run_command(question, brief.facts, reading)
            case "key_features":
                return offline_accuracy.key_features(question, brief.facts, reading)
        return unscored(tier, (question,), f"the offline judge has no rule for {question.key}", self.name)[0]
