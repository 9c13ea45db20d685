"""How many real answers are plain by their text, how many are left to a run with checks, and what it costs to find out.

    python tests/benchmarks/plain_share.py [--reasons] [SESSION …]

Two kinds of answers. Original bodies: every function of the listed projects outside their tests, judged in its file as it
is, and, as a model's answer would be that nobody has seen before, in the file without that body. Bodies in sessions: what
models answered, where it passed (only a pass is ever doubted) and at all. Aims: at least 0.97 of them plain or left to a run, at
most 1 ms a body (its file is read once, apart). What runs with checks show, `plain_runs.py` measures.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from workbench.repository import Snapshot, fetch
from workbench.repository.functions import Function, find_functions
from workbench.repository.splicing import SpliceError, splice
from workbench.sandbox.plain import PlainnessCheck, ProjectNames, project_names
from workbench.session import SessionReader

PROJECTS = (
    "schema==0.7.7", "tabulate==0.9.0", "requests==2.32.3", "confection==0.1.5", "python-dotenv==1.0.1", "radicli==0.0.25",
    "mocksafe==0.11.0b0", "arithmetic-compressor==0.2", "tinyflux==0.4.1", "jsonpath-ng==1.6.1",
)  # fmt: skip
SESSION = Path(__file__).parents[2] / "sessions" / "example.session"


@dataclass
class Count:
    """Bodies of one kind: how many, how many of them plain or left to a run, why not, and milliseconds for each."""

    name: str
    bodies: int = 0
    plain: int = 0
    left: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    def judge(self, check: PlainnessCheck, content: bytes, function: Function) -> None:
        """Judge one body and count it."""
        began = time.process_time()
        found = check.judge(content, (function.qualified_name, function.occurrence))
        self.took.append((time.process_time() - began) * 1000)
        self.bodies += 1
        self.plain += found.plain
        self.left += found.checked is not None
        if not found.plain and found.checked is None:
            self.reasons[found.reason] += 1

    def __str__(self) -> str:
        if not self.bodies:
            return f"{self.name:42} none"
        dear = statistics.quantiles(self.took, n=100)[94] if len(self.took) > 1 else self.took[0]
        middle = statistics.median(self.took)
        return (
            f"{self.name:42} {self.plain:5} of {self.bodies:5} plain {self.plain / self.bodies:.3f}, with {self.left:4} left "
            f"to a run {self.share:.3f}   {middle:.2f} ms, 95th percentile {dear:.2f} ms"
        )

    @property
    def share(self) -> float:
        """Of the bodies those that may stay unmarked."""
        return (self.plain + self.left) / self.bodies


def of_project(snapshot: Snapshot) -> Iterator[tuple[bytes, list[Function]]]:
    """Yield every file of a project but its tests, with its functions."""
    for entry in snapshot.files:
        path = Path(entry.path)
        if (
            path.suffix != ".py"
            or {"tests", "test", "testing"} & set(path.parts)
            or path.name.startswith(("test_", "conftest", "setup"))
        ):
            continue
        source = (snapshot.root / entry.path).read_bytes()
        found = [one for one in find_functions(source, entry.path) if source[one.body.start : one.body.end].strip()]
        if found:
            yield source, found


def originals(project: str) -> tuple[Count, Count, list[float]]:
    """Judge the original bodies of a project, in the files as they are and without them; also return ms per file."""
    known, unknown, files = Count(f"{project}, as it is"), Count(f"{project}, body taken out"), []
    snapshot = fetch(project)
    for source, functions in of_project(snapshot):
        # The names of the other files alone: those of the body that is taken out must not come back by its own file.
        names = partial(_of_others, snapshot.root, source)
        began = time.process_time()
        check = PlainnessCheck(source, names)
        files.append((time.process_time() - began) * 1000)
        for function in functions:
            known.judge(check, source, function)
            try:
                without = splice(source, function, "pass")
            except SpliceError:
                continue
            unknown.judge(PlainnessCheck(without, names), source, function)
    return known, unknown, files


@lru_cache(maxsize=4)
def _of_others(root: Path, source: bytes) -> ProjectNames:
    with tempfile.TemporaryDirectory() as folder:
        others = shutil.copytree(root, Path(folder) / "others", symlinks=True)
        for path in others.rglob("*.py"):
            if path.is_file() and path.read_bytes() == source:
                path.unlink()
        return project_names(others)


def answers(session: Path) -> tuple[Count, Count]:
    """Judge what models answered in a session: what passed, and all that can be put into its file."""
    passed, every = Count(f"{session.stem}: answers that passed"), Count(f"{session.stem}: all answers")
    checks: dict[str, PlainnessCheck] = {}
    with SessionReader(session) as reader:
        for run in reader.runs():
            tasks = {task.id: task for task in reader.tasks(run.id)}
            for row in reader.candidates(run.id):
                task = tasks.get(row.task_id)
                if row.control or task is None or row.body_blob is None or task.source_blob is None:
                    continue
                source = (reader.text(task.source_blob) or "").encode()
                names = (task.qualified_name, task.occurrence)
                function = next(
                    (f for f in find_functions(source, task.path) if (f.qualified_name, f.occurrence) == names), None
                )
                body = reader.text(row.body_blob)
                if function is None or body is None:
                    continue
                check = checks.setdefault(task.source_blob, PlainnessCheck(source))
                for count in [every] + [passed] * (row.verdict == "passed"):
                    count.judge(check, splice(source, function, body), function)
    return passed, every


def total(name: str, counts: Sequence[Count]) -> Count:
    """Return several counts as one."""
    whole = Count(name)
    for count in counts:
        whole.bodies += count.bodies
        whole.plain += count.plain
        whole.left += count.left
        whole.reasons += count.reasons
        whole.took += count.took
    return whole


def main() -> int:
    """Print the shares and the costs; return 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reasons", action="store_true", help="print why bodies are not plain")
    parser.add_argument("sessions", nargs="*", type=Path, default=[SESSION])
    arguments = parser.parse_args()
    known, unknown, files = [], [], []
    for project in PROJECTS:
        one, other, took = originals(project)
        print(one, other, sep="\n", flush=True)
        known.append(one)
        unknown.append(other)
        files += took
    whole = [total("original bodies, as they are", known), total("original bodies, taken out of their files", unknown)]
    for session in arguments.sessions:
        whole += answers(session)
    print("", *whole, sep="\n")
    print(f"a file is read once, in {statistics.median(files):.1f} ms (median), {max(files):.1f} ms (most)")
    if arguments.reasons:
        for count in whole:
            print(f"\n{count.name}:")
            for reason, times in count.reasons.most_common(60):
                print(f"{times:5}  {reason}")
    missed = [str(count) for count in whole if count.bodies and count.share < 0.97]
    missed += [str(count) for count in whole if count.took and statistics.median(count.took) > 1.0]
    for line in missed:
        print(f"MISSED {line}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
