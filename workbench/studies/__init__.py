"""Studies: a matrix of agents and models on cases, or of doc systems and evaluators on repositories, declared and read as one.

``declaration`` is what was asked for, ``reading`` gets what a session has of it, ``outcome`` computes its figures once,
``following`` does both, also again and again; ``comparing`` sets columns against one another. What draws at random is in ``chances``, which imports numpy: the app asks for it in a process of its own (``drawing``).
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "cells": ["Cell", "Mean"],
        "comparing": ["Comparison", "ItemPair", "Ranking", "compare", "rankings"],
        "declaration": ["BadStudy", "Column", "Study"],
        "following": ["StudyReader", "read_study"],
        "leaderboard": ["LeaderLine", "judge_agreement"],
        "outcome": ["ColumnSummary", "StudyOutcome"],
        "study_files": ["packaged_studies", "parse_study", "read_study_file", "study_named"],
    },
)
