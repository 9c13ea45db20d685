"""Files and lines of each room beside its budget, `[tool.workbench.size]` in pyproject.toml; `make size` prints them."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def size_of(folder: Path) -> tuple[int, int]:
    """Return the lines and the number of the Python files below a folder, or beside it for a file."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return sum(len(file.read_bytes().splitlines()) for file in files), len(files)


def main() -> None:
    """Print a row a room, then the sums."""
    budgets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["workbench"]["size"]
    rooms = [path for path in sorted((ROOT / "workbench").iterdir()) if path.is_dir() and any(path.rglob("*.py"))]
    sizes = {f"workbench/{room.name}": size_of(room) for room in rooms}
    sizes |= {"workbench": size_of(ROOT / "workbench"), "tests": size_of(ROOT / "tests")}
    print(f"{'room':26}{'lines':>9}{'budget':>9}{'files':>8}{'budget':>8}")
    for room, (lines, files) in sizes.items():
        most_lines, most_files = budgets.get(room, ("", ""))
        over = "  over" if room in budgets and (lines > most_lines or files > most_files) else ""
        budget_lines, budget_files = (f"{most:,}" if most else "" for most in (most_lines, most_files))
        print(f"{room:26}{lines:9,}{budget_lines:>9}{files:8,}{budget_files:>8}{over}")


if __name__ == "__main__":
    main()
