"""Write ``workbench/rubric/word_order.json``: how often which word follows which in the docstrings of Python's library.

    python tests/benchmarks/word_order_counts.py [--write]

Without ``--write`` it only says what it would write. Write only to change the offline judge, and raise its version then.
Words that are not among the commonest count as the class of their ending; pairs that occur less than three times are left
out. Numbers only: no sentence can be told from them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import sysconfig
from collections import Counter
from pathlib import Path

from workbench.rubric.word_order import COUNTS, EDGE, classes, sentences_of

COMMON = 300
STEMS = 500


def docstrings() -> list[str]:
    """Return the docstrings of the standard library, without those of its tests."""
    found = []
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        parts = set(path.relative_to(root).parts)
        if parts & {"test", "tests", "site-packages", "idlelib", "idle_test", "lib2to3"}:
            continue
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                text = ast.get_docstring(node)
                if text:
                    found.append(text)
    return found


def main() -> None:
    """Count and write."""
    from workbench.claims.similarity import tokens

    texts = docstrings()
    paragraphs = [
        " ".join(p.split())
        for text in texts
        for p in re.split(r"\n\s*\n", text)
        if not re.search(r">>>|^\s{4,}\S", p, re.M)
    ]
    sentences = [words for paragraph in paragraphs for words in sentences_of(paragraph) if len(words) >= 4]
    frequent = Counter(word.lower() for words in sentences for word in words if re.fullmatch(r"[A-Za-z']+", word))
    known = frozenset(word for word, _ in frequent.most_common(COMMON))
    singles: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for words in sentences:
        row = [EDGE, *classes(words, known), EDGE]
        singles.update(row[:-1])
        pairs.update(f"{a} {b}" for a, b in zip(row, row[1:], strict=False))
    stems = Counter(stem for text in texts for stem in {token.stem for token in tokens(text)})
    data = {
        "known": sorted(known),
        "singles": dict(sorted(singles.items())),
        "pairs": {pair: count for pair, count in sorted(pairs.items()) if count >= 3},
        "common_stems": sorted(stem for stem, _ in stems.most_common(STEMS)),
    }
    text = json.dumps(data, separators=(",", ":")) + "\n"
    if "--write" in sys.argv[1:]:
        COUNTS.write_text(text, "utf-8")
    print(f"{len(sentences):,} sentences, {len(data['pairs']):,} pairs, {len(text):,} characters")


if __name__ == "__main__":
    main()
