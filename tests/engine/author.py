"""A scripted author behind the loopback server: explores, then writes; its answers depend only on the conversation."""

from __future__ import annotations

import json
import threading

Body = dict[str, object]
README = """# word_counter

Counts lines, words, characters and bytes of text files.

## Installation

```bash
pip install click
```

## Usage

```bash
python word_counter.py notes.txt
```
"""
METADATA = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "word_counter"}


def call(name: str, **kwargs: object) -> str:
    return f"<json>{json.dumps({'name': name, 'kwargs': kwargs})}</json>"


SCRIPT = [
    call("list_directory", path="."),
    "I should look at the code first.",
    call("read_file", path="word_counter.py"),
    call("read_file", path="pyproject.toml"),
    call("respond", readme=README, metadata=METADATA),
]


class Author:
    """Answers the n-th turn of a conversation with the n-th line of the script.

    Args:
        stop_at: The turn at which answers are held back until ``go`` is set; 0 = never.
    """

    def __init__(self, stop_at: int = 0) -> None:
        self.stop_at = stop_at
        self.go = threading.Event()
        self.reached = threading.Event()

    def __call__(self, body: Body) -> str:
        messages = body["messages"]
        assert isinstance(messages, list)
        turn = sum(message["role"] == "assistant" for message in messages)
        if self.stop_at and turn == self.stop_at:
            self.reached.set()
            self.go.wait(60)
        return SCRIPT[min(turn, len(SCRIPT) - 1)]
