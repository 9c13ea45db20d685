"""Stars and tags: given and taken away by several programs, told in the feed, kept in the file."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.labels import (
    LONGEST,
    MOST,
    STAR,
    criterion_part,
    differences,
    in_words,
    labels_by_part,
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


def test_writers_at_once_lose_nothing(session: Path) -> None:
    def write(who: int) -> None:
        with SessionWriter(session) as writer:
            for number in range(20):
                writer.set_labels(f"t{number}", "", add=(f"by {who}",))

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(labels(session)) == 80


def test_what_is_typed() -> None:
    assert parse_tags(" good, to read ,good,, ") == ("good", "to read")
    assert parse_tags("") == ()
    with pytest.raises(UsageError, match=f"at most {LONGEST} characters"):
        parse_tags("x" * (LONGEST + 1))
    with pytest.raises(UsageError, match=f"at most {MOST} tags"):
        parse_tags(",".join(map(str, range(MOST + 1))))


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


def test_in_order_and_by_part() -> None:
    assert in_words(("b", STAR, "A")) == f"{STAR}, A, b"
    assert differences(("a", "b"), ("b", "c")) == (("c",), ("a",))
    assert labels_by_part([]) == {}


def test_reports_search_and_show_have_them(session: Path) -> None:
    import json

    from workbench.pages import write_report
    from workbench.search import SearchIndex, parse

    with SessionWriter(session) as writer:
        writer.add_run("r", "document", {"cases": ["word_counter"]})
        writer.add_trial("t1", "r", 0, ("word_counter", "word_counter"), "white", "gpt-4o", 1)
        writer.add_trial("t2", "r", 1, ("word_counter", "word_counter"), "white", "gpt-4o", 2)
        writer.set_labels("t1", "", add=(STAR, "to read"))
        writer.set_labels("t1", "4", add=("odd",))
        writer.set_labels("r", "", add=("baseline",))
    told = {}
    for ending in ("md", "html", "json"):
        out = session.with_suffix(f".{ending}")
        write_report(session, ending, out)
        told[ending] = out.read_text(encoding="utf-8")
    for ending in ("md", "html"):
        assert f"Tags: {STAR}, to read; step 4: odd" in told[ending]
        assert "baseline" in told[ending]
    assert {(one["item"], one["step"], one["label"]) for one in json.loads(told["json"])["labels"]} == {
        ("t1", None, STAR), ("t1", None, "to read"), ("t1", 4, "odd"), ("r", None, "baseline"),
    }  # fmt: skip

    index = SearchIndex(session.with_name("search.db"))
    with SessionReader(session) as reader:
        index.update(reader)
        assert [hit.item.id for hit in index.search(parse('tag:"to read"')).hits] == ["t1"]
        assert [hit.item.id for hit in index.search(parse(f"tag:{STAR}")).hits] == ["t1"]
        with SessionWriter(session) as writer:
            writer.set_labels("t2", "", add=("to read",))
            writer.set_labels("t1", "", remove=("to read",))
        index.update(reader)
        assert [hit.item.id for hit in index.search(parse('tag:"to read"')).hits] == ["t2"]
        with SessionWriter(session) as writer:
            writer.set_labels("t1", "3", add=("wrong turn",))
            writer.set_labels("t2", criterion_part("aeo-bench", 1, "a"), add=("too strict",))
        index.update(reader)
        assert [hit.item.id for hit in index.search(parse('tag:"wrong turn"')).hits] == ["t1"]
        assert [hit.item.id for hit in index.search(parse('tag:"too strict"')).hits] == ["t2"]
        with SessionWriter(session) as writer:
            writer.set_labels("t1", "3", remove=("wrong turn",))
        index.update(reader)
        assert not index.search(parse('tag:"wrong turn"')).hits
    index.close()
