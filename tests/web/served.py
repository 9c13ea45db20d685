"""A running `workbench serve` with folders of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Served:
    """A running `workbench serve`: its address, its process, the folders of what it shows."""

    address: str
    process: subprocess.Popen[bytes]
    home: Path


def environment(home: Path) -> dict[str, str]:
    """Own folders, and a provider of models that nobody reaches."""
    gone = {"PYTHONDONTWRITEBYTECODE", "NO_COLOR", "WORKBENCH_BASE_URL", "ANTHROPIC_API_KEY"}
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    own = {f"WORKBENCH_{name}_DIR": str(home / name.lower()) for name in ("DATA", "CACHE", "CONFIG", "STATE")}
    return kept | own | {"OPENAI_API_KEY": "sk-test"}


@contextlib.contextmanager
def serving(home: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    """Run `workbench serve` on a free port until the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "serve", "--port", "0", "--json", *arguments],
        env=environment(home) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1].decode()
        yield Served(json.loads(line)["address"], process, home)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
