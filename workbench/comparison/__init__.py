"""Two trials side by side: which steps, files, words and points only one of them has.

:func:`read_side` reads a trial of a session, :func:`compare` does the rest. Nothing here knows of a screen.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "alignment": ["align", "longest_common"],
        "criteria": ["CriterionPair", "Judged", "TierPair", "join_criteria"],
        "reading": ["read_side"],
        "trials": ["Comparison", "Effort", "FilePair", "Side", "StepPair", "align_steps", "compare", "join_files"],
        "words": ["LinePair", "Piece", "TextDiff", "word_diff"],
    },
)
