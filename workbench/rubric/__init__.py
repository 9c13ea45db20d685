"""The rubric: how a README and its metadata are scored, criterion by criterion, with reason and evidence.

``aeo-bench`` compares with published scores, ``strict`` asks for more. :class:`OfflineJudge` needs no model,
:class:`LLMJudge` asks one through the gateway. What could not be scored has points None, never 0.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "judging": ["JudgeRequest", "ScoredDocument", "Judge", "LLMJudge", "Question", "make_judge", "parse_judge"],
        "metadata": ["metadata_findings"],
        "offline_judge": ["OfflineJudge"],
        "scorecard": ["Criterion", "Evidence", "Scorecard", "Spread"],
        "scoring": ["rubrics", "score"],
    },
)
