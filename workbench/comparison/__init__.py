"""Two things side by side: trials, tasks, candidates, groups of candidates (evaluators, docs, prompts), runs.

:func:`read_side` reads a trial of a session and :func:`compare` does the rest; so do :func:`read_candidate` and
:func:`compare_candidates`, :func:`read_task` and :func:`compare_tasks`, :func:`read_group` and :func:`compare_groups`. The two may be of different sessions.
Nothing here knows of a screen.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "alignment": ["align", "longest_common"],
        "candidates": ["CandidateComparison", "CandidateSide", "FailingPair", "compare_candidates", "read_candidate"],
        "criteria": ["CriterionPair", "TierPair", "join_criteria"],
        "groups": [
            "FailingCount",
            "GroupComparison",
            "GroupSide",
            "Tally",
            "TaskPair",
            "compare_groups",
            "failing_counts",
            "groups_of",
            "join_tasks",
            "read_group",
            "telling_samples",
        ],
        "paired_points": ["PairedPoints"],
        "reading": ["read_side", "scales_of"],
        "runs": ["GroupsBeside", "join_groups"],
        "sent": ["Sent", "SentPart", "read_sent"],
        "tasks": [
            "EvaluatorPair",
            "TaskComparison",
            "TaskSide",
            "TaskTest",
            "TaskTestPair",
            "compare_tasks",
            "read_task",
        ],
        "texts": ["TextPair", "TextSide", "compare_texts", "read_text"],
        "trial_runs": ["ChosenTrials", "ScoredTrial", "TrialsComparison", "TrialsPair", "TrialsSide", "compare_trials"],
        "trials": ["Comparison", "Effort", "FilePair", "Side", "StepPair", "align_steps", "compare", "join_files"],
        "words": ["LinePair", "Piece", "TextDiff", "word_diff"],
    },
)
