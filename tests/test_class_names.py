"""A class name stands for one class in the whole program."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1] / "workbench"


def test_class_names_are_unique() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
