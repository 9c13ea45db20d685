"""Make passwords from a random source; the command line is at the end."""

from __future__ import annotations

import argparse
import random
import secrets
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

import strength
from alphabet import build_pools, class_names

DEFAULT_LENGTH = 16
MAXIMUM_LENGTH = 1024


class RandomSource(Protocol):
    """What is needed of a random generator; both random.Random and secrets.SystemRandom have it."""

    def choice(self, seq: Sequence[str]) -> str:
        """Return one element of seq at random."""
        ...

    def shuffle(self, x: list[str]) -> None:
        """Bring the elements of x into a random order, in place."""
        ...


@lru_cache(maxsize=1)
def secure_source() -> random.Random:
    """Return the generator of the operating system, a secrets.SystemRandom; always the same object."""
    return secrets.SystemRandom()


def make_source(seed: int | None = None) -> random.Random:
    """Return secure_source() if seed is None, else a random.Random with that seed (not for real passwords)."""
    return secure_source() if seed is None else random.Random(seed)


def validate_length(length: int, minimum: int = 1) -> int:
    """Return length if it lies between minimum and MAXIMUM_LENGTH, both included.

    Raises:
        ValueError: otherwise, with the message "length must be between MINIMUM and MAXIMUM".
    """
    if not minimum <= length <= MAXIMUM_LENGTH:
        raise ValueError(f"length must be between {minimum} and {MAXIMUM_LENGTH}")
    return length


def pick(characters: str, count: int, source: RandomSource) -> list[str]:
    """Return a list of count characters, each chosen independently with source.choice."""
    return [source.choice(characters) for _ in range(count)]


def generate(length: int, pools: dict[str, str], source: RandomSource) -> str:
    """Return a password of length characters with at least one character from each pool.

    One character is picked from each pool, the others from all pools together; then source.shuffle
    mixes them.

    Raises:
        ValueError: if length is smaller than the number of pools or too large (see validate_length).
    """
    validate_length(length, minimum=len(pools))
    characters = [source.choice(pool) for pool in pools.values()]
    characters += pick("".join(pools.values()), length - len(characters), source)
    source.shuffle(characters)
    return "".join(characters)


def generate_many(count: int, length: int, pools: dict[str, str], source: RandomSource) -> Iterator[str]:
    """Yield count different passwords (see generate).

    Raises:
        ValueError: "cannot make that many different passwords" after 1,000 repeated ones in a row.
    """
    seen: set[str] = set()
    repeated = 0
    while len(seen) < count:
        password = generate(length, pools, source)
        if password in seen:
            repeated += 1
            if repeated >= 1000:
                raise ValueError("cannot make that many different passwords")
            continue
        repeated = 0
        seen.add(password)
        yield password


def in_groups(password: str, size: int, separator: str = "-") -> str:
    """Return password cut into groups of size characters that are joined by separator; the last may be shorter.

    >>> in_groups("abcdefgh", 3)
    'abc-def-gh'
    """
    return separator.join(password[start : start + size] for start in range(0, len(password), size))


def mask(password: str, visible: int = 2) -> str:
    """Return password with every character but the first visible ones replaced by an asterisk.

    >>> mask("secret")
    'se****'
    """
    return password[:visible] + "*" * (len(password) - visible)


def selected_classes(disabled: Sequence[str]) -> list[str]:
    """Return the names of all character classes except the disabled ones, in their usual order."""
    return [name for name in class_names() if name not in disabled]


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Its options are --length/-l (DEFAULT_LENGTH), --count/-n (1), --no-CLASS for each character class
    (all collect in the list ``disabled``), --exclude/-x (""), --no-ambiguous, --group (0), --seed,
    --check PASSWORD and --show-strength.
    """
    parser = argparse.ArgumentParser(prog="password_generator", description="Generate random passwords.")
    parser.add_argument("-l", "--length", type=int, default=DEFAULT_LENGTH, help="characters (default: %(default)s)")
    parser.add_argument("-n", "--count", type=int, default=1, help="how many passwords (default: %(default)s)")
    for name in class_names():
        parser.add_argument(
            f"--no-{name}", dest="disabled", action="append_const", const=name, default=[], help=f"leave out {name}"
        )
    parser.add_argument("-x", "--exclude", default="", metavar="CHARACTERS", help="never use these characters")
    parser.add_argument("--no-ambiguous", action="store_true", help="leave out characters that look alike, as l and 1")
    parser.add_argument("--group", type=int, default=0, metavar="SIZE", help="separate groups of SIZE with dashes")
    parser.add_argument("--seed", type=int, help="repeat the same passwords; for tests only, not secure")
    parser.add_argument("--check", metavar="PASSWORD", help="rate the strength of PASSWORD and stop")
    parser.add_argument("--show-strength", action="store_true", help="print the strength beside each password")
    return parser


def run_check(password: str) -> int:
    """Print a line with the masked password, then the lines of its strength report.

    Return 0 if the password is acceptable, else 1.
    """
    report = strength.check(password)
    print("\n".join([f"{mask(password)}:", *report.lines()]))
    return 0 if report.is_acceptable else 1


def describe(password: str, group: int = 0, show_strength: bool = False) -> str:
    """Return the output line for password.

    With a group size above 0 it is written in groups; with show_strength two spaces and the first
    line of its strength report follow.
    """
    text = in_groups(password, group) if group > 0 else password
    return f"{text}  {strength.check(password).lines()[0]}" if show_strength else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; arguments default to those of the process.

    A ValueError is printed on standard error as "error: MESSAGE" and gives the exit code 2.
    """
    options = build_parser().parse_args(arguments)
    if options.check is not None:
        return run_check(options.check)
    try:
        pools = build_pools(selected_classes(options.disabled), options.exclude, options.no_ambiguous)
        for password in generate_many(options.count, options.length, pools, make_source(options.seed)):
            print(describe(password, options.group, options.show_strength))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
