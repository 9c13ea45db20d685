"""A table of wrong command lines, files and environments, with the expected message for each.

Every line runs in a folder with the files of :func:`faults.wrong.prepare` and must end with the exit code, in one sentence
that holds the words, and leave no new file. ``test_invocations.py`` runs them.
"""

from __future__ import annotations

from faults.wrong import Wrong
from faults.wrong_names import NAMES
from faults.wrong_places import FILES, ITEMS, SESSIONS
from faults.wrong_surroundings import SYSTEM
from faults.wrong_values import MODELS, NUMBERS, SETTINGS

TABLE: tuple[Wrong, ...] = (*NUMBERS, *SESSIONS, *ITEMS, *MODELS, *NAMES, *FILES, *SETTINGS, *SYSTEM)
