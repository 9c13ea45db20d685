"""Two candidates side by side: bodies, documentation and prompts word by word, and the tests that only one of them fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.diff import without_margin
from workbench.comparison.failing import FailedTest, failing_pane, join_tests
from workbench.comparison.texts import TextSide, alike, compare_all, compare_texts, docstring_of, prompt_of, read_text
from workbench.glyphs import VERDICTS
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, TaskRow


@dataclass(frozen=True, slots=True)
class CandidateSide:
    """One of the two candidates, as it was read; bodies are without the indentation of their first line."""

    candidate: CandidateRow
    task: TaskRow
    session: str
    body: TextSide
    original: TextSide
    docstring: TextSide
    prompt: TextSide
    failing: Mapping[str, FailedTest]

    @property
    def tokens(self) -> int | None:
        known = [one for one in (self.candidate.prompt_tokens, self.candidate.completion_tokens) if one is not None]
        return sum(known) if known else None

    @property
    def parts(self) -> list[str]:
        task, row = self.task, self.candidate
        parts = [row.evaluator.rpartition("/")[2], task.qualified_name, f"sample {row.sample + 1}", task.path]
        return [*parts, f"docs {task.docs_words}", f"run {row.run_id}", self.session, row.prompt, row.context]

    def to_json(self) -> dict[str, Any]:
        row, task = self.candidate, self.task
        return {
            "session": self.session,
            "candidate": row.id,
            "task": task.id,
            "path": task.path,
            "name": task.qualified_name,
            "docs": task.docs,
            "docs_scope": task.docs_scope,
            "evaluator": row.evaluator,
            "sample": row.sample,
            "verdict": row.verdict,
            "body": self.body.text,
        }


def read_candidate(reader: SessionReader, candidate_id: str) -> CandidateSide | None:
    """Read a candidate with all that is compared; None if it, or its task, is not in the session."""
    row = reader.candidate(candidate_id)
    task = reader.task(row.task_id) if row is not None else None
    if row is None or task is None:
        return None

    def body(digest: str | None, title: str, of: str, absent: str) -> TextSide:
        side = read_text(reader, digest, title, of, absent)
        return side if side.text is None else replace(side, text=without_margin(side.text))

    why = row.verdict_reason or f"there is no body yet: the candidate is {row.state}"
    return CandidateSide(
        row,
        task,
        reader.path.name,
        body(row.body_blob, one_line(row.evaluator.rpartition("/")[2], 30), f"the body of candidate {row.id}", why),
        body(task.body_blob, "original", f"the original body of task {task.id}", "the session does not keep it"),
        docstring_of(reader, task),
        prompt_of(reader, task, row),
        {one.test_id: FailedTest(1, one.message, one.outcome) for one in reader.failing_tests(row.id)},
    )


def compare_candidates(left: CandidateSide, right: CandidateSide) -> panes.Comparison:
    a, b = left.candidate, right.candidate
    texts = compare_all(left, right, "body", "docstring", "prompt")
    tests = join_tests(left.failing, right.failing)
    amounts = {
        "tokens": panes.Amount("tokens", left.tokens, right.tokens, 8, 0, 1),
        "asked": panes.Amount("asked s", a.asked_s, b.asked_s, 8, 1, 2),
        "tested": panes.Amount("tested s", a.tested_s, b.tested_s, 9, 2, 3),
        "cost": panes.Amount("$", a.cost_usd, b.cost_usd, 9, 4, 4),
    }
    return panes.Comparison(
        names=panes.names_apart(left.parts, right.parts, 3, 7),
        columns=(
            panes.head_column("verdict", (_verdict(a), _verdict(b), ""), 11, text=True),
            panes.Amount("failing", len(left.failing), len(right.failing), 7).column,
            *(one.column for one in amounts.values()),
        ),
        alike=alike(texts),
        leads=tuple(
            panes.Lead("candidate", one.id, one is b, task.run_id, one.sample, task.id, one.evaluator)
            for one, task in ((a, left.task), (b, right.task))
        ),
        panes={
            "Bodies": texts["body"],
            "Original → A": compare_texts(left.original, left.body, under=True, page=False),
            "Original → B": compare_texts(right.original, right.body, under=True, page=False, of_b=True),
            "Failing tests": failing_pane(tests),
            "Docstrings": texts["docstring"],
            "Prompts": texts["prompt"],
        },
        to_json=lambda: {
            "a": left.to_json(),
            "b": right.to_json(),
            "efforts": {name: one.to_json() for name, one in amounts.items()},
            **{f"same_{name}": one.same for name, one in texts.items()},
            "failing_tests": [
                {
                    "test": one.name,
                    **one.to_json(lambda test: test.message),
                    "fails": "both" if one.both else "a" if one.left else "b",
                }
                for one in tests
            ],
        },
    )


def _verdict(row: CandidateRow) -> panes.Cell:
    verdict = row.verdict or row.state
    return f"{VERDICTS.get(verdict, '·')} {verdict}", "passed" if verdict == "passed" else "failed"


CANDIDATES = panes.Kind(
    "candidates",
    "two candidates",
    ("Bodies", "Original → A", "Original → B", "Failing tests", "Docstrings", "Prompts"),
    lambda left, right, *scale: compare_candidates(*panes.both(left, right, read_candidate, "Candidate")),
)
