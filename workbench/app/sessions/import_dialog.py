"""Asks which files of other programs are read, and by which importer, as ``workbench import`` takes them."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.extensions import is_dotted
from workbench.plugins import names


@dataclass(frozen=True, slots=True)
class WantedImport:
    """A file or folder, as it was typed, and the importer of another package that reads it, "" for none."""

    place: str
    importer: str


class ImportDialog(FormDialog[WantedImport]):
    """Ends with what is wanted.

    Args:
        place: The path to begin with.
        into: What stands for the session that gets it.
    """

    STARTS = "Import"

    def __init__(self, place: str, into: str) -> None:
        self._into, self._importers = into, names("importer")
        fields = (
            Field("file", place, paths=True),
            Field("format", "", self._importers, placeholder="known by what is in it"),
        )
        super().__init__("Import files of other programs", fields, "file")

    def about(self, field: str) -> str:
        """Return what is read, or which importers there are."""
        if field == "format":
            offered = "; ".join([*self._importers, "package.module:Class"])
            return f"An importer of a plug-in that reads all of them: {offered}. Empty: our own formats, by what is in a file."
        return f"A file or a folder; it goes into {self._into}. What is there already is skipped."

    def answer(self) -> WantedImport | Refused:
        """Return file and importer, or what is wrong with one of them."""
        place, importer = self.text("file"), self.text("format")
        if not place:
            return Refused("file", "Name a file or a folder.")
        if importer and not (importer in self._importers or is_dotted(importer)):
            return Refused("format", f"There is no importer {importer!r}.")
        return WantedImport(place, importer)
