"""Pages and sections that tell what was or what may come: changelogs, guides for upgrades, plans, designs.

Their names, options and versions need not be those of today: on 407 projects half of all wrong *untrue* claims stood in such places.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_PAST_OR_FUTURE = (
    r"change[ _-]?logs?|changes|history|releases?|release[ _-]notes?|version[ _-]history|what'?s[ _-]+new|"
    r"migrat(?:ion|ions|ing)|upgrad(?:es?|ing)|breaking[ _-]changes|deprecat(?:ed|ions?)|removed|archived?|legacy|"
    r"road[ _-]?map|to[ _-]?do|planned|future|plans?|proposals?"
)
_FOR_DEVELOPERS = r"news|old|planning|designs?|rfcs?|peps?|adrs?|decisions?|research|internals?|notes|meetings?|analysis|audits?|reviews?|specs?|postmortems?"
#: A heading that is such a word, perhaps with what it is of: "Changelog", "Migrating from 1.x", "What's new in 2.0".
_HEADING = re.compile(
    rf"\W*(?:the |full )?(?:{_PAST_OR_FUTURE})(?:\s+(?:log|notes?|history|guide|items|work|features|in|from|to|of|for|since)\b.{{0,40}})?\W*",
    re.I,
)
#: The name of a page or folder that has such a word as its first or last one.
_NAME = re.compile(
    rf"(?:{_PAST_OR_FUTURE}|{_FOR_DEVELOPERS})\b.*|.*\b(?:{_PAST_OR_FUTURE}|{_FOR_DEVELOPERS})\W*\d*", re.I
)
#: A heading that is a version: "0.1.5", "[1.2.0] - 2020-01-01", "Version 1.31.3, 2 July 2025 (unreleased)".
_VERSION = re.compile(
    r"\W*(?:version|release|new in)?\W*v?\d+\.\d+(?:\.\w+)*(?:[\W\d]|\b(?:un)?released?\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"(?:alpha|beta|rc|dev|post|yanked|on|th|st|nd|rd))*",
    re.I,
)
_OF_PROJECTS = (
    "contributing",
    "code_of_conduct",
    "security",
    "license",
    "authors",
)


def is_of_another_time(heading: str) -> bool:
    """Tell whether a section with that heading tells what was or what may come."""
    title = heading.strip("#=-*_ \n\t")
    return bool(_VERSION.fullmatch(title) or _HEADING.fullmatch(title))


def is_page_for_readers(path: str) -> bool:
    """Tell whether a page in a folder of docs is for those who use the project, by its name and the folders below the first."""
    *folders, name = PurePosixPath(path).parts[1:]
    if any(part.startswith(("_", ".")) for part in folders) or name.lower().startswith(_OF_PROJECTS):
        return False
    return not any(
        _NAME.fullmatch(said) or _VERSION.fullmatch(said)
        for said in (re.sub(r"[_-]+", " ", part) for part in (*folders, PurePosixPath(name).stem))
    )
