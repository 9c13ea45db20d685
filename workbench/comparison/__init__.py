"""Two trials side by side: which steps, files, words and points only one of them has.

:func:`read_side` reads a trial of a session, :func:`compare` does the rest. Nothing here knows of a screen.
"""

from __future__ import annotations

from workbench.comparison.alignment import align, longest_common
from workbench.comparison.criteria import CriterionPair, Judged, TierPair, join_criteria
from workbench.comparison.reading import read_side
from workbench.comparison.trials import Comparison, Effort, FilePair, Side, StepPair, align_steps, compare, join_files
from workbench.comparison.words import LinePair, Piece, TextDiff, word_diff

__all__ = [
    "Comparison",
    "CriterionPair",
    "Effort",
    "FilePair",
    "Judged",
    "LinePair",
    "Piece",
    "Side",
    "StepPair",
    "TextDiff",
    "TierPair",
    "align",
    "align_steps",
    "compare",
    "join_criteria",
    "join_files",
    "longest_common",
    "read_side",
    "word_diff",
]
