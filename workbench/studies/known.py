"""Studies by name: those that come with the program, and files of a person's own."""

from __future__ import annotations

from pathlib import Path

from workbench.files import expanded, shown
from workbench.studies.declaration import BadStudy, Study, read_study_file

_FOLDER = Path(__file__).parent / "packaged"


def packaged_studies() -> tuple[str, ...]:
    """Return the names of the studies that come with the program."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def study_named(text: str) -> Study:
    """Return the study of a name, or the one in a file.

    Raises:
        BadStudy: There is neither, or the file declares none.
    """
    if text in packaged_studies():
        return read_study_file(_FOLDER / f"{text}.toml")
    path = expanded(text)
    if not path.exists():
        raise BadStudy(
            f"There is no study and no file {shown(text)!r}; known studies: {', '.join(packaged_studies())}, or a study.toml "
            "of your own (docs/studies.md)."
        )
    return read_study_file(path)
