"""Sessions as an engine would have written them, for tests and benchmarks of the Trajectory mode."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.session import SessionWriter, create, engine_starts
from workbench.session.rows import AccessedFileRow, ScoreRow, StepRow

RUN = "run-1"
CODE = '''"""Count lines, words and characters, like Unix ``wc``."""

import argparse
import sys
from pathlib import Path


def count_text(text: str) -> tuple[int, int, int]:
    """Return (lines, words, characters) of a text."""
    return text.count("\\n"), len(text.split()), len(text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Count lines, words and characters.")
    parser.add_argument("files", nargs="*", help="files to read; standard input without any")
    arguments = parser.parse_args()
    for name in arguments.files or ["-"]:
        text = sys.stdin.read() if name == "-" else Path(name).read_text()
        print(*count_text(text), name)
    return 0
'''
README = """# word_counter

Count lines, words and characters of text files, like Unix `wc`.

## Features

- Several files with **totals**
- Reads standard input
- Finds the [most common words](https://example.org/words)

## Installation

Python 3.11 or newer; there is nothing else to install.

## Usage

```bash
python wordcount.py file.txt
```

| option | meaning |
|---|---|
| `--words` | only words |
| `--top N` | the N most common words |

> Numbers are counted as `wc` counts them.
"""
METADATA = {
    "@context": "https://schema.org",
    "@type": "SoftwareSourceCode",
    "name": "word_counter",
    "description": "Count lines, words and characters.",
    "programmingLanguage": "Python",
}
FILES = [("setup.cfg", 214), ("tests/test_wordcount.py", 1_180), ("wordcount.py", 7_034), ("words.json", 65)]


def span(needle: str, readme: str = README) -> tuple[int, int]:
    """Return where a text stands in the README."""
    start = readme.index(needle)
    return start, start + len(needle)


def card(rubric: str = "aeo-bench", *, judge: str = "offline", accuracy: float | None = 10.0) -> dict[str, object]:
    """Return a scorecard's JSON; an ``accuracy`` of None leaves a criterion unscored."""

    def criterion(
        tier: int, key: str, title: str, points: float | None, maximum: float, reason: str, *evidence: dict[str, object]
    ) -> dict[str, object]:
        return {"tier": tier, "key": key, "title": title, "points": points, "maximum": maximum, "reason": reason,
                "judged_by": judge if tier > 2 else "rule", "samples": [], "evidence": list(evidence)}  # fmt: skip

    def quote(text: str) -> dict[str, object]:
        start, end = span(text)
        return {"kind": "readme", "text": text, "start": start, "end": end, "path": None, "line": None}

    command = quote("python wordcount.py file.txt")
    named = "lines, words and characters are named, bytes are not"
    purpose = "the judge timed out" if accuracy is None else named
    criteria = [
        criterion(1, "parses", "Answer parses", 5, 5, "the answer is JSON"),
        criterion(1, "length", "Length", 5, 5, "572 characters, more than 100"),
        criterion(1, "metadata", "Metadata", 5, 5, "@context, @type and name are there", _at("metadata", "@context")),
        criterion(2, "installation", "Installation", 8, 8, "says how to install", quote("## Installation")),
        criterion(2, "usage", "Usage", 9, 9, "says how to run it", quote("## Usage"), command),
        criterion(2, "examples", "Examples", 8, 8, "a fenced example", command),
        criterion(3, "purpose", "Purpose", accuracy, 12, purpose, quote("Count lines, words and characters")),
        criterion(
            3, "dependencies", "Dependencies", 3, 10, 'names "click", which the repository does not use', _file()
        ),
        criterion(3, "run_command", "Run command", 8, 8, "as in the facts", _at("fact", None)),
        criterion(4, "clarity", "Clarity", 9, 12, "short sentences, one idea each"),
        criterion(4, "completeness", "Completeness", 6, 10, "a new user misses how to read standard input"),
        criterion(4, "formatting", "Formatting", 8, 8, "headings, lists, fenced code"),
    ]
    return {"rubric": rubric, "judge": judge, "total": 79.0, "out_of": 100, "criteria": criteria, "spread": []}


def _at(kind: str, path: str | None) -> dict[str, object]:
    return {"kind": kind, "text": "python wordcount.py FILE", "start": None, "end": None, "path": path, "line": None}


def _file() -> dict[str, object]:
    return {"kind": "file", "text": "import argparse", "start": None, "end": None, "path": "wordcount.py", "line": 3}


class Recorder:
    """Writes what an engine writes; each method is one thing that happens."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            create(path)
        self.writer = SessionWriter(path)

    def close(self) -> None:
        self.writer.close()

    def run(self, run_id: str = RUN, *, state: str = "done", coming: bool = True) -> None:
        self.writer.add_run(run_id, "document", {"cases": ["word_counter"], "judge": "offline"})
        self.writer.set_run(run_id, state=state)
        if state == "queued" and coming:
            engine_starts.started(run_id, os.getpid())

    def trial(
        self, trial_id: str, *, repeat: int = 1, run_id: str = RUN, state: str = "queued", case: str = "word_counter"
    ) -> None:
        self.writer.add_trial(trial_id, run_id, repeat - 1, (case, case), "white", "local", repeat)
        if state != "queued":
            self.writer.set_trial(trial_id, state=state, started_at=1.0 + repeat)

    def snapshot(self, trial_id: str, files: Sequence[tuple[str, int]] = FILES) -> None:
        self.writer.add_snapshot("snapshot-1", "folder", "1", files)
        self.writer.set_trial(trial_id, snapshot="snapshot-1")

    def step(
        self, trial_id: str, number: int, kind: str, action: str, target: str, *, answer: str = "",
        observation: str | None = None, problem: str | None = None, tokens: int = 1_000, seconds: float = 1.5,
        messages: Sequence[tuple[str, str]] = (), cost: float | None = None,
    ) -> None:  # fmt: skip
        writer = self.writer
        with writer.transaction():
            call = None
            if messages:
                listed = json.dumps([[role, writer.blob(text)] for role, text in messages])
                call = writer.insert(
                    "calls",
                    {"run_id": RUN, "scope": trial_id, "purpose": "agent", "model": "local", "digest": f"d{number}",
                     "sample": 0, "nth": 0, "messages_blob": writer.blob(listed), "sampling": '{"temperature": 0.3}',
                     "answer_blob": writer.blob(answer), "answered_by": "smollm2", "finish_reason": "stop",
                     "prompt_tokens": tokens - 40, "completion_tokens": 40, "cost_usd": cost, "latency_s": seconds,
                     "attempts": '[{"seconds": 1.0, "error": null}]', "source": "live", "started_at": 10.0},
                )  # fmt: skip
            size = len((observation or "").encode("utf-8", "surrogatepass"))
            writer.add_step(
                StepRow(
                    trial_id=trial_id, number=number, kind=kind, action=action, target=target, call_id=call,
                    answer_blob=writer.blob(answer) if answer else None,
                    observation_blob=writer.blob(observation) if observation is not None else None,
                    observation_size=size, problem=problem, prompt_tokens=tokens - 40, completion_tokens=40,
                    cost_usd=cost, seconds=seconds, model="local", settings="{}", at=10.0 + number,
                )
            )  # fmt: skip

    def tool(
        self, trial_id: str, number: int, action: str, target: str, observation: str, *, thought: str = "", **more: Any
    ) -> None:
        call = json.dumps({"name": action, "kwargs": {"path": target}})
        answer = f"{thought}\n<json>{call}</json>"
        self.step(trial_id, number, "tool", action, target, answer=answer, observation=observation, **more)

    def seen(self, trial_id: str, path: str, how: str, step: int, size: int = 0) -> None:
        self.writer.add_accessed_files([AccessedFileRow(trial_id, path, how, step, size, None)])

    def score(self, trial_id: str, scorecard: dict[str, object]) -> None:
        blob = self.writer.blob(json.dumps(scorecard))
        self.writer.put_score(
            ScoreRow(trial_id, str(scorecard["rubric"]), str(scorecard["judge"]), 79.0, 100.0, 15.0, 25.0, 21.0, 23.0, blob, 99.0)
        )  # fmt: skip

    def finish(
        self, trial_id: str, *, readme: str = README, metadata: object = METADATA, state: str = "done", **more: object
    ) -> None:
        writer = self.writer
        writer.set_trial(
            trial_id, state=state, parsed=1, readme_blob=writer.blob(readme), metadata_blob=writer.blob(json.dumps(metadata)),
            steps=4, prompt_tokens=9_000, completion_tokens=600, cost_usd=0.0213, finished_at=40.0, seconds=13.2, **more,
        )  # fmt: skip


SYSTEM = "You document repositories. Answer with <json>."
TASK = "Project: word_counter. Begin by listing."


def word_counter(
    recorder: Recorder, trial_id: str, *, repeat: int = 1, readme: str = README, accuracy: float | None = 10.0
) -> None:
    """Record a whole trial: list, a slip, read, respond, two scorecards."""
    r = recorder
    r.trial(trial_id, repeat=repeat, state="running")
    r.snapshot(trial_id)
    first = [("system", SYSTEM), ("user", TASK)]
    listing = '[\n  "setup.cfg",\n  "tests/",\n  "wordcount.py",\n  "words.json"\n]'
    shown = {"thought": "I look around first.", "messages": first, "tokens": 1_104, "seconds": 0.8}
    r.tool(trial_id, 1, "list_directory", ".", listing, **shown)
    for path in ("setup.cfg", "tests/", "wordcount.py"):
        r.seen(trial_id, path, "listed", 1)
    r.step(
        trial_id, 2, "invalid", "no <json> tag", "asked again", answer="I will now read the main file.", tokens=1_180, seconds=1.1,
        problem="The answer has no <json>…</json> tag.", messages=[*first, ("assistant", "…"), ("user", listing)],
    )  # fmt: skip
    r.tool(trial_id, 3, "read_file", "wordcount.py", CODE, thought="The main file.", tokens=2_931, seconds=1.9)
    r.seen(trial_id, "wordcount.py", "read", 3, 7_034)
    answer = "<json>" + json.dumps({"name": "respond", "kwargs": {"readme": readme, "metadata": METADATA}}) + "</json>"
    r.step(trial_id, 4, "respond", "respond", "README 0.6 kB", answer=answer, tokens=4_020, seconds=9.4)
    r.finish(trial_id, readme=readme)
    r.score(trial_id, card(accuracy=accuracy))
    r.score(trial_id, card("strict", accuracy=7.0))
