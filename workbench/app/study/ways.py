"""The ways to begin a study: a new one, those that come with the program, one of a file."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.studies.declaration import PAPER

NEW, FILE = "", "file"
"""What is chosen where it is no study that comes with the program."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """A way to begin: ``name`` is a packaged study, :data:`NEW` or :data:`FILE`."""

    name: str
    title: str
    about: str


def beginnings() -> tuple[Beginning, ...]:
    """Return all ways."""
    from workbench.studies.known import packaged_studies, study_named

    packaged = [study_named(name) for name in packaged_studies()]
    told = {PAPER: "The paper's published tables, read-only: its report"}
    return (
        Beginning(NEW, "new study", "Choose cases and agents, or sources and doc systems"),
        *(Beginning(one.name, one.name, told.get(one.kind, one.title.partition(":")[0])) for one in packaged),
        Beginning(FILE, "study.toml", "One that a file declares"),
    )
