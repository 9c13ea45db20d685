"""What a line of the table of wrong invocations says, and the files and commands that its lines name."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench import session

Arguments = tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """One invocation.

    Attributes:
        arguments: What is typed; ``~CWD`` stands for the folder.
        words: What the sentence must hold.
        code: The exit code.
        settings: The content of the settings file, None for none.
        environment: Variables on top of the test's own.
        shell: Where set, what a real shell executes with the program as ``$W``; ``arguments`` only name the line then.
    """

    arguments: Arguments
    words: Arguments
    code: int = 2
    settings: str | bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    shell: str = ""

    @property
    def id(self) -> str:
        """A name for the test's report."""
        parts = [*(f"{name}={value[:24]}" for name, value in self.environment.items()), *self.arguments]
        if isinstance(self.settings, str):
            parts.append(f"[{self.settings[:30]}]")
        return " ".join(ascii(part)[1:-1][:48] for part in parts) or self.shell[:60]


def prepare(folder: Path) -> None:
    """Make the files that the table names."""
    (folder / "README.md").write_text("# A project\n\nIt does things.\n")
    (folder / "folder").mkdir()
    (folder / "folder" / "main.py").write_text("x = 1\n")
    (folder / "hollow").mkdir()
    (folder / "prose").mkdir()
    (folder / "prose" / "notes.txt").write_text("No code here.\n")
    (folder / "empty").touch()
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "latin1").write_bytes("caf\xe9\n".encode("latin-1"))
    (folder / "notes.txt").write_text("no session\n" * 40)
    (folder / "fake.session").write_text("no session\n" * 40)
    (folder / "deep.json").write_text("[" * 50_000 + "]" * 50_000)
    (folder / "deep.jsonl").write_text('{"task_id": "a", "completion": ' + "[" * 50_000 + "]" * 50_000 + "}\n")
    (folder / "numbers.jsonl").write_text('{"task_id": 1, "completion": 2}\n')
    (folder / "text.jsonl").write_text("this is text\n")
    (folder / "rows.jsonl").write_text('{"schema_version": 1}\n')
    (folder / "newer.jsonl").write_text('{"schema_version": 99}\n')
    (folder / "endless.jsonl").write_text('{"schema_version": 1e400}\n')
    (folder / "list.jsonl").write_text("[1, 2]\n")
    os.mkfifo(folder / "pipe")
    (folder / "piped").mkdir()
    os.mkfifo(folder / "piped" / "case.toml")
    for name, text in CASES.items():
        (folder / name).mkdir()
        (folder / name / "case.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with (folder / "huge").open("wb") as file:
        file.truncate(2_000_000_000)
    with socket.socket(socket.AF_UNIX) as made:
        # A socket's name is short: it is given relative to the folder.
        made.bind("socket")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    session.create(folder / "own.session")


CASES: Mapping[str, str | bytes] = {
    "case-of-all": 'id = "all"\nsource = "."\n',
    "case-of-escapes": 'id = "good"\nname = "a\\u001b[31m"\nsource = "."\n',
    "case-of-brackets": "x = " + "[" * 50_000 + "]" * 50_000,
    "case-of-nothing": "",
    "case-in-latin1": "name = 'caf\xe9'\n".encode("latin-1"),
    "case-with-typo": 'nmae = "x"\nsource = "."\n',
}

EXAMPLE = "example"
RUN: Arguments = ("run", "word_counter", "--model", "local", "--judge", "offline")
REGENERATE: Arguments = ("regenerate", "word_counter", "--evaluator", "reference")
LONG = "x" * 300
