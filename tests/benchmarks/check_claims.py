"""Claims of a README of 1,000 lines, looked up in a repository of 2,000 files, at most one second of processor time.

The repository is Python files of this environment under a package of its own; the README imports, calls and names what is in
them, with options, files and defaults. The baseline parses every file, which is what one would write first.

    python tests/benchmarks/check_claims.py
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from figures import Figure, publish  # noqa: E402

from workbench.checking.pages import claims_of_page  # noqa: E402
from workbench.claims.page import parse_page  # noqa: E402
from workbench.claims.project import ProjectIndex  # noqa: E402

FILES, LINES, LIMIT = 2_000, 1_000, 1.0


def repository(root: Path) -> list[tuple[str, list[str]]]:
    """Write 2,000 modules; return the name of each with its functions and classes."""
    (root / "pyproject.toml").write_text(
        '[project]\nname = "many"\nversion = "1"\n[project.scripts]\nmany = "many:main"\n'
    )
    found = []
    sources = sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py"))
    for path in sources:
        text = path.read_text("utf-8", "replace")
        if 500 < len(text) < 12_000 and len(found) < FILES:
            number = len(found)
            folder = root / "many" / f"part_{number // 100}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "__init__.py").touch()
            (folder / f"module_{number}.py").write_text(text, "utf-8", "replace")
            names = re.findall(r"^(?:def|class) ([A-Za-z]\w+)", text, re.M)
            found.append((f"many.part_{number // 100}.module_{number}", names))
    (root / "many" / "__init__.py").touch()
    return found


def readme(modules: list[tuple[str, list[str]]]) -> str:
    """Return a README of 1,000 lines about the modules."""
    lines = ["# many", ""]
    named = [(module, names) for module, names in modules if names]
    at = 0
    while len(lines) < LINES:
        module, names = named[at * 13 % len(named)]
        at += 1
        lines += [
            f"## {module}",
            "",
            f"`{names[0]}()` is in [its file]({module.replace('.', '/')}.py), `--option-{at}` too (default: {at}).",
            "",
        ]
        lines += ["```python", f"from {module} import {names[0]}, invented_{at}", f"{names[0]}(value={at})", "```", ""]
    return "\n".join(lines[:LINES])


def main() -> int:
    """Look up the claims of the page."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        modules = repository(root)
        page = parse_page(readme(modules), "README.md")
        began = time.process_time()
        found = claims_of_page(page, ProjectIndex(root), {})
        seconds = time.process_time() - began
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in root.rglob("*.py"):
                try:
                    ast.parse(path.read_bytes())
                except (SyntaxError, ValueError):
                    continue
        baseline = time.process_time() - began
    what = f"look up {len(found):,} claims in {len(modules):,} files"
    return publish(
        [
            Figure(what, f"{seconds:.2f} s", f"the limit, {LIMIT:g} s", seconds / LIMIT, 1.0),
            Figure(what, f"{seconds:.2f} s", f"parsing every file alone, {baseline:.2f} s", seconds / baseline),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
