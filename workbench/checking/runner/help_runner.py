"""Asks commands and subcommands for help: ``python -I help_runner.py RESULT SECONDS COMMAND…``; standard library only."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

MOST = 40


def help_of(words: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(
            [*words, "--help"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")[:200_000] if done.returncode == 0 else ""


def subcommands(text: str) -> list[str]:
    """Return the command names in a help text: argparse lists them in braces, click and typer in a section."""
    found = [name for group in re.findall(r"\{([\w,.-]+)\}", text) for name in group.split(",")]
    section = re.split(r"^\W*(?:commands|subcommands)\b.*$", text, flags=re.I | re.M)
    for part in section[1:]:
        found += re.findall(r"^\s{1,8}(?:│\s*)?([a-z][\w-]*)\s", part, re.M) + re.findall(
            r"^│\s+([a-z][\w-]*)\s", part, re.M
        )
    return list(dict.fromkeys(found))


def main() -> None:
    result, seconds, commands = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    end = time.monotonic() + seconds * 10
    found = {}
    for command in commands:
        text = help_of([command], seconds)
        found[command] = text
        for name in subcommands(text)[:MOST]:
            if time.monotonic() > end:
                break
            more = help_of([command, name], seconds)
            if more and more != text:
                found[f"{command} {name}"] = more
    with open(result, "w") as file:
        json.dump(found, file)


main()
