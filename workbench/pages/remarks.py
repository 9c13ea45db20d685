"""Tags and remarks of people on an item of a session."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.pages.page import Note
from workbench.results.contents import Contents
from workbench.session.labels import part_in_words


def remarks(contents: Contents, item: str, step: int | None = None) -> Iterator[Note]:
    """Yield the tags of an item and people's remarks on it, or those on one step of it alone."""
    if step is None and (tags := contents.all_tags(item)):
        yield Note(f"Tags: {tags}", "remark")
    for remark in contents.remarks(item):
        if step is None or remark.step == step:
            place = f" on {part_in_words(remark.of)}" if remark.of else ""
            yield Note(f"Remark{place}: {remark.text}", "remark")
