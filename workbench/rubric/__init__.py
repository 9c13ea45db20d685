"""The rubric: how a README and its metadata are scored, criterion by criterion, with reason and evidence.

Use :func:`score` with one of the :func:`rubrics` (``aeo-bench`` compares with published scores, ``strict`` asks for
more) and a judge: :class:`OfflineJudge` needs no model, :class:`LLMJudge` asks one through the gateway,
:func:`make_judge` gives the one that a name means, a class of another package included. What could not be scored has points None, never 0. :func:`metadata_findings` checks metadata against schema.org's software types.
"""

from __future__ import annotations

from workbench.rubric.agreement import Agreement, agreements
from workbench.rubric.judges import JudgeName, make_judge, parse_judge
from workbench.rubric.judging import Brief, Judge, Question
from workbench.rubric.llm_judge import Asker, LLMJudge
from workbench.rubric.metadata import Finding, metadata_findings
from workbench.rubric.offline_judge import OfflineJudge
from workbench.rubric.rules import Document, Found, Rubric, Rule
from workbench.rubric.scorecard import PASS_MARK, Criterion, Evidence, Scorecard, Spread, TierScore
from workbench.rubric.scoring import NO_FACTS_POINTS, rubrics, score

__all__ = [
    "NO_FACTS_POINTS",
    "PASS_MARK",
    "Agreement",
    "Asker",
    "Brief",
    "Criterion",
    "Document",
    "Evidence",
    "Finding",
    "Found",
    "Judge",
    "JudgeName",
    "LLMJudge",
    "OfflineJudge",
    "Question",
    "Rubric",
    "Rule",
    "Scorecard",
    "Spread",
    "TierScore",
    "agreements",
    "make_judge",
    "metadata_findings",
    "parse_judge",
    "rubrics",
    "score",
]
