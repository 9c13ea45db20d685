"""Count what is in a text: a library of small functions and a command."""

from __future__ import annotations

import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import wraps
from pathlib import Path

import click

COLUMNS = ("lines", "words", "characters", "bytes", "longest")
DEFAULT_COLUMNS = ("lines", "words", "bytes")
STDIN = "-"
_TOKEN = re.compile(r"\S+")


def count_lines(text: str) -> int:
    r"""Return how many newline characters (``"\n"``) are in text.

    A last line without a newline at its end is not counted, as in Unix ``wc``.

    >>> count_lines("one\ntwo\n")
    2
    """
    return text.count("\n")


def count_words(text: str) -> int:
    """Return the number of words in text, where words are separated by white space.

    >>> count_words("to be  or not")
    4
    """
    return len(text.split())


def count_characters(text: str) -> int:
    """Return the number of characters in text.

    >>> count_characters("abc")
    3
    """
    return len(text)


def count_bytes(text: str, encoding: str = "utf-8") -> int:
    """Return the number of bytes that text takes when it is encoded with encoding.

    >>> count_bytes("né")
    3
    """
    return len(text.encode(encoding))


def decode(data: bytes) -> str:
    """Return data decoded as UTF-8, with the replacement character in the place of invalid bytes."""
    return data.decode("utf-8", errors="replace")


def join_texts(contents: Iterable[bytes]) -> str:
    """Return all contents decoded with decode, in one string without anything between them."""
    return "".join(decode(data) for data in contents)


def is_blank(line: str) -> bool:
    """Return True if line is empty or has only white space, else False."""
    return not line.strip()


def count_blank_lines(text: str) -> int:
    """Return how many lines of text are blank: empty or only white space."""
    return sum(1 for line in text.splitlines() if is_blank(line))


def longest_line(lines: Iterable[str]) -> str:
    """Return the longest string in lines.

    If several are equally long, return the first of them. If lines is empty, return an empty string.
    """
    return max(lines, key=len, default="")


def longest_line_length(text: str) -> int:
    """Return the length of the longest line in text, without its line ending; 0 for an empty text."""
    return len(longest_line(text.splitlines()))


def to_lower(word: str) -> str:
    """Return word in lower case."""
    return word.lower()


def is_number(word: str) -> bool:
    """Return True if word consists only of digits and is not empty, else False."""
    return word.isdigit()


def normalize_word(word: str) -> str:
    """Return word in lower case, without punctuation at its start and at its end.

    Punctuation inside the word stays. Punctuation means ``string.punctuation``.

    >>> normalize_word('"Don\\'t!"')
    "don't"
    """
    return to_lower(word.strip(string.punctuation))


def iter_words(text: str) -> Iterator[str]:
    """Yield each word of text in order, normalized with normalize_word.

    Words that are empty after normalization, such as a lone dash, are left out.
    """
    for match in _TOKEN.finditer(text):
        word = normalize_word(match.group())
        if word:
            yield word


def unique_words(text: str) -> set[str]:
    """Return the set of the normalized words in text (see iter_words)."""
    return set(iter_words(text))


def longest_word(text: str) -> str:
    """Return the longest normalized word in text (see iter_words).

    Of equally long words return the first. Return an empty string if there are no words.
    """
    return max(iter_words(text), key=len, default="")


def average(numbers: Sequence[float]) -> float:
    """Return the sum of numbers divided by how many there are, or 0.0 if numbers is empty."""
    if not numbers:
        return 0.0
    return sum(numbers) / len(numbers)


def average_word_length(text: str) -> float:
    """Return the average length of the normalized words in text, or 0.0 if it has none."""
    return average([len(word) for word in iter_words(text)])


def percentage(part: int, whole: int) -> float:
    """Return part as a percentage of whole, rounded to one decimal, or 0.0 if whole is 0.

    >>> percentage(1, 3)
    33.3
    """
    if whole == 0:
        return 0.0
    return round(100 * part / whole, 1)


def pluralize(number: int, noun: str) -> str:
    """Return number and noun separated by a space, with an "s" after noun unless number is 1.

    >>> pluralize(1, "word"), pluralize(3, "word")
    ('1 word', '3 words')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def word_frequencies(text: str, min_length: int = 1) -> Counter[str]:
    """Return a Counter of the normalized words in text (see iter_words).

    Words shorter than min_length and words that are numbers are left out.
    """
    return Counter(word for word in iter_words(text) if len(word) >= min_length and not is_number(word))


def most_common(frequencies: Counter[str], limit: int) -> list[tuple[str, int]]:
    """Return the limit most frequent words with their counts, the most frequent first.

    Words with equal counts are in alphabetical order. A limit of 0 or less returns an empty list.
    """
    ranked = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))
    return ranked[: max(limit, 0)]


@dataclass(frozen=True)
class Counts:
    """The counts of one text; longest is the length of its longest line."""

    lines: int = 0
    words: int = 0
    characters: int = 0
    bytes: int = 0
    longest: int = 0

    @classmethod
    def of_bytes(cls, data: bytes) -> Counts:
        """Return the counts of data.

        Data is decoded with decode. The field bytes is the length of data itself.
        """
        text = decode(data)
        return cls(count_lines(text), count_words(text), count_characters(text), len(data), longest_line_length(text))

    def __add__(self, other: Counts) -> Counts:
        """Return the field by field sum of both counts, except longest, which is the larger of the two."""
        return Counts(
            self.lines + other.lines,
            self.words + other.words,
            self.characters + other.characters,
            self.bytes + other.bytes,
            max(self.longest, other.longest),
        )

    @property
    def is_empty(self) -> bool:
        """True if every count is 0."""
        return not any(astuple(self))

    def select(self, columns: Iterable[str]) -> tuple[int, ...]:
        """Return the values of the fields that are named in columns, in that order."""
        return tuple(getattr(self, column) for column in columns)


def add_up(counts: Iterable[Counts]) -> Counts:
    """Return the sum of all counts, made with their ``+``; Counts() if there are none."""
    return sum(counts, Counts())


def chosen_columns(flags: dict[str, bool]) -> tuple[str, ...]:
    """Return the names in COLUMNS whose flag is true, in the order of COLUMNS.

    A name that is missing in flags counts as false. If no flag is true, return DEFAULT_COLUMNS.
    """
    return tuple(name for name in COLUMNS if flags.get(name)) or DEFAULT_COLUMNS


def number_width(rows: Iterable[Iterable[int]]) -> int:
    """Return how many characters the widest number in rows takes when printed, at least 1."""
    return max((len(str(number)) for row in rows for number in row), default=1)


def format_row(numbers: Iterable[int], name: str, width: int) -> str:
    """Return one output line: numbers right-aligned to width, then name, all separated by single spaces.

    If name is empty, the line ends after the last number.

    >>> format_row((3, 14), "a.txt", 4)
    '   3   14 a.txt'
    """
    cells = [str(number).rjust(width) for number in numbers]
    if name:
        cells.append(name)
    return " ".join(cells)


def format_table(named: Sequence[tuple[str, Counts]], columns: Sequence[str]) -> list[str]:
    """Return the output lines for (name, counts) pairs, one line for each pair, with the chosen columns.

    If there is more than one pair, a line named "total" with their sum follows.
    All numbers are right-aligned to the width of the widest number (see number_width and format_row).
    """
    entries = list(named)
    if len(entries) > 1:
        entries.append(("total", add_up(counts for _, counts in entries)))
    rows = [(counts.select(columns), name) for name, counts in entries]
    width = number_width(numbers for numbers, _ in rows)
    return [format_row(numbers, name, width) for numbers, name in rows]


def format_common(ranked: Sequence[tuple[str, int]], total: int) -> list[str]:
    """Return one line for each (word, count) pair: the count, the word and its share of total.

    Counts are right-aligned to the width of the widest count; the share is a percentage with one
    decimal in parentheses, as in ``"2 the (50.0%)"``.
    """
    width = number_width([[count for _, count in ranked]])
    return [f"{str(count).rjust(width)} {word} ({percentage(count, total)}%)" for word, count in ranked]


def summarize(text: str) -> list[str]:
    """Return five output lines that describe text.

    They are the size in bytes, the lines and how many of them are blank, the words and how many of them
    are unique, the average word length with one decimal, and the longest word, for example::

        36 bytes
        2 lines, 0 blank
        7 words, 6 unique
        average word length: 3.9
        longest word: violet's

    Numbers with a noun are made by pluralize. Words here are normalized words (see iter_words).
    """
    words = list(iter_words(text))
    return [
        pluralize(count_bytes(text), "byte"),
        f"{pluralize(count_lines(text), 'line')}, {count_blank_lines(text)} blank",
        f"{pluralize(len(words), 'word')}, {len(unique_words(text))} unique",
        f"average word length: {average_word_length(text):.1f}",
        f"longest word: {longest_word(text)}",
    ]


def read_source(name: str) -> bytes:
    """Return the bytes of the file called name, or all of standard input if name is "-"."""
    if name == STDIN:
        return sys.stdin.buffer.read()
    return Path(name).read_bytes()


def tolerant(function: Callable[[str], bytes]) -> Callable[[str], bytes | None]:
    """Decorate a reader so that an OSError becomes a message on standard error and the result None.

    The message is ``word_counter: NAME: REASON``, where REASON is the error's strerror.
    """

    @wraps(function)
    def wrapper(name: str) -> bytes | None:
        """Return function(name), or None after reporting its OSError."""
        try:
            return function(name)
        except OSError as error:
            click.echo(f"word_counter: {name}: {error.strerror}", err=True)
            return None

    return wrapper


@tolerant
def try_read(name: str) -> bytes:
    """Return what read_source returns for name; if that fails, the decorator reports it."""
    return read_source(name)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-l", "--lines", is_flag=True, help="Show the number of lines.")
@click.option("-w", "--words", is_flag=True, help="Show the number of words.")
@click.option("-m", "--characters", is_flag=True, help="Show the number of characters.")
@click.option("-c", "--bytes", is_flag=True, help="Show the number of bytes.")
@click.option("-L", "--longest", is_flag=True, help="Show the length of the longest line.")
@click.option("-t", "--top", type=click.IntRange(min=1), metavar="N", help="List the N most common words instead.")
@click.option("-s", "--summary", is_flag=True, help="Describe the whole text in a few lines instead.")
@click.option("--min-length", type=click.IntRange(min=1), default=1, help="With --top: skip shorter words.")
def main(files: tuple[str, ...], top: int | None, summary: bool, min_length: int, **flags: bool) -> None:
    """Count lines, words and bytes of each FILE, or of standard input if there is none or FILE is "-".

    Several files get a line with their total. The exit code is 1 if a file could not be read.
    """
    names = files or (STDIN,)
    contents = [(name if files else "", try_read(name)) for name in names]
    readable = [(name, data) for name, data in contents if data is not None]
    if summary:
        output = summarize(join_texts(data for _, data in readable))
    elif top is not None:
        frequencies = word_frequencies(join_texts(data for _, data in readable), min_length)
        output = format_common(most_common(frequencies, top), frequencies.total())
    else:
        output = format_table([(name, Counts.of_bytes(data)) for name, data in readable], chosen_columns(flags))
    for line in output:
        click.echo(line)
    if len(readable) < len(contents):
        sys.exit(1)


if __name__ == "__main__":
    main()
