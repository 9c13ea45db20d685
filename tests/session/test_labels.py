"""Stars and tags: given and taken away by several programs, told in the feed, kept in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.labels import (
    LONGEST,
    MOST,
    STAR,
    parse_tags,
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "tagged.session"
    create(path)
    return path


def labels(path: Path) -> list[tuple[str, str, str]]:
    with SessionReader(path) as reader:
        return [(row.item, row.part, row.label) for row in reader.labels()]


def test_given_taken_and_given_again(session: Path) -> None:
    with SessionWriter(session) as writer:
        writer.set_labels("t1", "", add=(STAR, "good"))
        writer.set_labels("t1", "3", add=("odd",))
        writer.set_labels("t1", "", remove=("good", "never given"))
    assert labels(session) == [("t1", "", STAR), ("t1", "3", "odd")]
    with SessionWriter(session) as writer:
        writer.set_labels("t1", "", add=("good", STAR))
    assert labels(session) == [("t1", "", "good"), ("t1", "", STAR), ("t1", "3", "odd")]


def test_the_feed_tells_of_both(session: Path) -> None:
    with SessionReader(session) as reader, SessionWriter(session) as writer:
        for change in ({"add": ("good",)}, {"remove": ("good",)}):
            seen = reader.last_change()
            writer.set_labels("t1", "2", **change)
            assert [(one.kind, one.item, one.part) for one in reader.changes(seen)] == [("label", "t1", "2")]
        seen = reader.last_change()
        writer.set_labels("t1", "2", add=("a",))
        after = reader.last_change()
        writer.set_labels("t1", "2", add=("a",))
        assert after > seen
        assert reader.last_change() == after  # what it has already is no change


def test_what_is_typed() -> None:
    assert parse_tags(" good, to read ,good,, ") == ("good", "to read")
    assert parse_tags("") == ()
    with pytest.raises(UsageError, match=f"at most {LONGEST} characters"):
        parse_tags("x" * (LONGEST + 1))
    with pytest.raises(UsageError, match=f"at most {MOST} tags"):
        parse_tags(",".join(map(str, range(MOST + 1))))


@settings(max_examples=30)
@given(st.text(max_size=300))
def test_any_text_gives_clean_tags_or_one_sentence(text: str) -> None:
    try:
        tags = parse_tags(text)
    except UsageError:
        assert len(text) > LONGEST or text.count(",") >= MOST
        return
    assert len(set(tags)) == len(tags)
    assert all(tag == tag.strip() and tag and len(tag) <= LONGEST and one_line(tag, 99) == tag for tag in tags)
    assert parse_tags(", ".join(tags)) == tags
