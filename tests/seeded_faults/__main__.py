"""Break the code in one place after the other and see that ``make test`` finds each fault.

``python tests/seeded_faults [NAME …]`` applies each ``*.patch`` of this folder to a copy of the tree and runs the fast tests until the
first failure: those that the patch names first, then the whole suite. It prints which test found the fault, and exits with 1 if a
fault was missed or a patch no longer applies. The first line of a patch says what is broken; ``Tests:`` names where to look first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
FAST = ("-x", "-q", "-n", "2", "--dist", "loadgroup", "-m", "not slow and not nightly", "--no-header", "--tb=no")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A patch with what it breaks and the tests that are likely to find it."""

    patch: Path
    what: str
    tests: list[str]


def faults() -> list[Fault]:
    """Return the faults of this folder by name."""
    found = []
    for patch in sorted(FOLDER.glob("*.patch")):
        what, tests = patch.read_text().split("\n")[:2]
        found.append(Fault(patch, what, tests.removeprefix("Tests:").split()))
    return found


def applies(fault: Fault, tree: Path, *, check: bool = False) -> bool:
    """Apply a fault to a tree, or only check that it would apply."""
    command = ["git", "apply", *(["--check"] if check else []), str(fault.patch)]
    return subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode == 0


def copy_of_tree(folder: Path) -> Path:
    """Return a copy of the files that git knows, changes that are not committed included."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tree = folder / "tree"
    tree.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    existing = "\0".join(name for name in names.split("\0") if name and (ROOT / name).exists())
    archive = subprocess.run(
        ["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=existing.encode(), capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
    return tree


def found_by(tree: Path, tests: list[str]) -> str | None:
    """Return the first fast test that fails in a tree, None if all pass."""
    environment = os.environ | {"PYTHONPATH": str(tree)}
    for selected in (tests, []):
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *FAST, *selected],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if failed := FAILED.search(ended.stdout):
            return failed[1]
    return None


def main() -> int:
    """Seed each fault; return 1 if one is missed."""
    missed = 0
    for fault in faults():
        if sys.argv[1:] and not any(name in fault.patch.stem for name in sys.argv[1:]):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
            Path(folder).chmod(0o755)  # some tests start programs as another user
            tree = copy_of_tree(Path(folder))
            test = found_by(tree, fault.tests) if applies(fault, tree) else None
            outcome = f"found by {test}" if test else "MISSED" if applies(fault, ROOT, check=True) else "DOES NOT APPLY"
        missed += test is None
        print(f"{fault.patch.stem}: {fault.what}\n    {outcome}, {time.monotonic() - began:.0f} s", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
