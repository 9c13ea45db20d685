from collections import Counter

import pytest

import word_counter as wc


@pytest.mark.parametrize(("text", "expected"), [("one\ntwo\n", 2), ("one\ntwo", 1), ("", 0), ("\n\n\n", 3)])
def test_count_lines(text, expected):
    assert wc.count_lines(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("to be  or not", 4), ("  padded \t text\n", 2), ("", 0)])
def test_count_words(text, expected):
    assert wc.count_words(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("né\n", 3), ("", 0)])
def test_count_characters(text, expected):
    assert wc.count_characters(text) == expected


def test_count_bytes():
    assert wc.count_bytes("abc") == 3
    assert wc.count_bytes("né") == 3
    assert wc.count_bytes("né", "latin-1") == 2


def test_decode():
    assert wc.decode("né".encode()) == "né"
    assert wc.decode(b"a\xffb") == "a\ufffdb"


def test_join_texts():
    assert wc.join_texts(["né\n".encode(), b"b"]) == "né\nb"
    assert wc.join_texts([]) == ""


@pytest.mark.parametrize("line", ["", "   ", "\t\n"])
def test_blank_lines_are_blank(line):
    assert wc.is_blank(line) is True


def test_lines_with_text_are_not_blank():
    assert wc.is_blank("  x ") is False


def test_count_blank_lines():
    assert wc.count_blank_lines("a\n\n  \nb\n") == 2
    assert wc.count_blank_lines("a\nb") == 0


def test_longest_line():
    assert wc.longest_line(["a", "ccc", "bbb"]) == "ccc"
    assert wc.longest_line(iter(["xy"])) == "xy"
    assert wc.longest_line([]) == ""


def test_longest_line_length():
    assert wc.longest_line_length("a\nfour\nxyz\n") == 4
    assert wc.longest_line_length("") == 0


def test_to_lower():
    assert wc.to_lower("HeLLo") == "hello"


def test_is_number():
    assert wc.is_number("2024") is True
    assert wc.is_number("12a") is False
    assert wc.is_number("") is False


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Hello,", "hello"), ('"Don\'t!"', "don't"), ("--", ""), ("well-known", "well-known"), ("(WORD)", "word")],
)
def test_normalize_word(word, expected):
    assert wc.normalize_word(word) == expected


def test_iter_words_is_lazy_and_ordered():
    words = wc.iter_words("The cat - the HAT.")
    assert next(words) == "the"
    assert list(words) == ["cat", "the", "hat"]


def test_unique_words():
    assert wc.unique_words("A b a. B! c") == {"a", "b", "c"}


def test_longest_word():
    assert wc.longest_word("a (three) seven") == "three"
    assert wc.longest_word("...") == ""


def test_average():
    assert wc.average([1, 2, 6]) == 3.0
    assert wc.average([]) == 0.0


def test_average_word_length():
    assert wc.average_word_length("ab, cdef!") == 3.0
    assert wc.average_word_length("") == 0.0


def test_percentage():
    assert wc.percentage(1, 3) == 33.3
    assert wc.percentage(5, 5) == 100.0
    assert wc.percentage(1, 0) == 0.0


def test_pluralize():
    assert wc.pluralize(1, "word") == "1 word"
    assert wc.pluralize(0, "line") == "0 lines"
    assert wc.pluralize(3, "word") == "3 words"


def test_word_frequencies():
    text = "The cat saw the 2 cats. A cat!"
    assert wc.word_frequencies(text) == Counter({"the": 2, "cat": 2, "saw": 1, "cats": 1, "a": 1})
    assert wc.word_frequencies(text, min_length=4) == Counter({"cats": 1})


def test_most_common_breaks_ties_by_the_alphabet():
    frequencies = Counter({"b": 2, "a": 2, "z": 5, "c": 1})
    assert wc.most_common(frequencies, 3) == [("z", 5), ("a", 2), ("b", 2)]
    assert wc.most_common(frequencies, 10)[-1] == ("c", 1)
    assert wc.most_common(frequencies, 0) == []
    assert wc.most_common(frequencies, -1) == []


def test_counts_of_bytes():
    counts = wc.Counts.of_bytes("né one\ntwo\n".encode())
    assert counts == wc.Counts(lines=2, words=3, characters=11, bytes=12, longest=6)


def test_counts_of_bytes_replaces_what_is_not_utf8():
    assert wc.Counts.of_bytes(b"a\xff b") == wc.Counts(lines=0, words=2, characters=4, bytes=4, longest=4)


def test_counts_add():
    assert wc.Counts(1, 2, 3, 4, 9) + wc.Counts(10, 20, 30, 40, 5) == wc.Counts(11, 22, 33, 44, 9)


def test_counts_is_empty():
    assert wc.Counts().is_empty is True
    assert wc.Counts(longest=1).is_empty is False


def test_counts_select():
    assert wc.Counts(1, 2, 3, 4, 5).select(["bytes", "lines"]) == (4, 1)


def test_add_up():
    assert wc.add_up([wc.Counts(1, 1, 1, 1, 1), wc.Counts(2, 2, 2, 2, 2)]) == wc.Counts(3, 3, 3, 3, 2)
    assert wc.add_up([]) == wc.Counts()


def test_chosen_columns():
    assert wc.chosen_columns({"bytes": True, "lines": True, "words": False}) == ("lines", "bytes")
    assert wc.chosen_columns({}) == wc.DEFAULT_COLUMNS


def test_number_width():
    assert wc.number_width([(1, 22), (333, 4)]) == 3
    assert wc.number_width([]) == 1


def test_format_row():
    assert wc.format_row((3, 14), "a.txt", 4) == "   3   14 a.txt"
    assert wc.format_row((3,), "", 1) == "3"


def test_format_table_of_one_has_no_total():
    assert wc.format_table([("a", wc.Counts(1, 22, 3, 4, 5))], ["lines", "words"]) == [" 1 22 a"]


def test_format_table_of_several_has_a_total():
    named = [("a", wc.Counts(lines=7)), ("b", wc.Counts(lines=5))]
    assert wc.format_table(named, ["lines"]) == [" 7 a", " 5 b", "12 total"]


def test_format_common():
    assert wc.format_common([("the", 10), ("cat", 2)], 20) == ["10 the (50.0%)", " 2 cat (10.0%)"]
    assert wc.format_common([], 0) == []


def test_summarize():
    assert wc.summarize("Né, a word.\n\nA longer one!\n") == [
        "28 bytes",
        "3 lines, 1 blank",
        "6 words, 5 unique",
        "average word length: 2.8",
        "longest word: longer",
    ]
