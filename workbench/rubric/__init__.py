"""The rubric: how a README and its metadata are scored, criterion by criterion, each with a reason and evidence.

``aeo-bench`` is comparable with published scores; ``strict`` is more demanding. :class:`OfflineJudge` needs no model;
:class:`LLMJudge` asks one through the gateway. A criterion that could not be scored has points None, never 0.
"""

import lazy_loader

# Nothing is imported eagerly: a package that imports its own modules can deadlock with a thread that imports one of
# them directly.
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
