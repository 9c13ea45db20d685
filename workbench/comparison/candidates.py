"""Two candidates side by side: bodies, documentation and prompts word by word, and the tests that only one of them fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.failing import FailedTest, failing_pane, join_tests, only_and_both
from workbench.comparison.line_diff import without_margin
from workbench.comparison.texts import TextSide, alike, compare_texts, docstring_of, prompt_of, read_text, texts_pane
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
    failing: dict[str, FailedTest]

    @property
    def verdict(self) -> str:
        return self.candidate.verdict or self.candidate.state

    @property
    def tokens(self) -> int | None:
        """Tokens of its prompt and answer, None where neither is known."""
        row = self.candidate
        known = [count for count in (row.prompt_tokens, row.completion_tokens) if count is not None]
        return sum(known) if known else None

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
    candidate = reader.candidate(candidate_id)
    task = reader.task(candidate.task_id) if candidate is not None else None
    if candidate is None or task is None:
        return None
    why = candidate.verdict_reason or f"there is no body yet: the candidate is {candidate.state}"
    body = read_text(reader, candidate.body_blob, "candidate", f"the body of candidate {candidate.id}", why)
    not_kept = "the session does not keep it"
    original = read_text(reader, task.body_blob, "original", f"the original body of task {task.id}", not_kept)
    failing = {row.test_id: FailedTest(1, row.message, row.outcome) for row in reader.failing_tests(candidate.id)}
    return CandidateSide(
        candidate,
        task,
        reader.path.name,
        _unindented(body),
        _unindented(original),
        docstring_of(reader, task),
        prompt_of(reader, task, candidate),
        failing,
    )


def compare_candidates(left: CandidateSide, right: CandidateSide) -> panes.Comparison:
    """Compare two candidates, of one task or of two."""
    a, b = left.candidate, right.candidate
    names = [one_line(one.evaluator.rpartition("/")[2], 30) for one in (a, b)]
    bodies = compare_texts(left.body, right.body).named(*names)
    docstrings = compare_texts(left.docstring, right.docstring).named(*names)
    prompts = compare_texts(left.prompt, right.prompt).named(*names)
    tests = join_tests(left.failing, right.failing)
    efforts = (
        panes.Effort("tokens", left.tokens, right.tokens),
        panes.Effort("asked", a.asked_s, b.asked_s),
        panes.Effort("tested", a.tested_s, b.tested_s),
        panes.Effort("cost", a.cost_usd, b.cost_usd),
    )
    tokens, asked, tested, cost = efforts
    head = panes.Head(
        names=panes.names_apart(_name(left), _name(right), 3, 7),
        figures=(
            panes.Figure("verdict", (_verdict(left), _verdict(right), ""), 11, text=True),
            panes.counted("failing", len(left.failing), len(right.failing)),
            tokens.figure("tokens", 8, 0, 1),
            asked.figure("asked s", 8, 1, 2),
            tested.figure("tested s", 9, 2, 3),
            cost.figure("$", 9, 4, 4),
        ),
        alike=alike(docstring=docstrings, prompt=prompts),
    )

    def leads(pane: str, rows: Mapping[str, Any]) -> panes.Leads:
        row = rows.get(pane)
        of_b = pane == "right-original" or (row is not None and row.left is None)
        side = right if of_b else left
        one, task = side.candidate, side.task
        return (panes.Lead("candidate", one.id, of_b, task.run_id, one.sample, task.id, one.evaluator),)

    def values() -> dict[str, Any]:
        return {
            "a": left.to_json(),
            "b": right.to_json(),
            "efforts": panes.efforts_json(efforts),
            "same_body": bodies.same,
            "same_docstring": docstrings.same,
            "same_prompt": prompts.same,
            "failing_tests": [
                {
                    "test": one.test,
                    **panes.pair_json(one, lambda test: test.message),
                    "fails": "both" if one.both else "a" if one.left else "b",
                }
                for one in tests
            ],
        }

    return panes.Comparison(
        left=left,
        right=right,
        head=lambda width: head,
        leads=leads,
        values=values,
        panes={
            "body-texts": texts_pane(bodies),
            "left-original": texts_pane(compare_texts(left.original, left.body), under=True, page=False),
            "right-original": texts_pane(compare_texts(right.original, right.body), under=True, page=False),
            "failing-diff": failing_pane(tests, "Neither fails a test.", only_and_both(tests)),
            "docs-texts": texts_pane(docstrings, optional=True),
            "prompt-texts": texts_pane(prompts, optional=True),
        },
    )


def _unindented(side: TextSide) -> TextSide:
    return side if side.text is None else replace(side, text=without_margin(side.text))


def _name(side: CandidateSide) -> list[str]:
    task, row = side.task, side.candidate
    parts = [row.evaluator.rpartition("/")[2], task.qualified_name, f"sample {row.sample + 1}", task.path]
    return [*parts, f"docs {task.docs_words}", f"run {row.run_id}", side.session, row.prompt, row.context]


def _verdict(side: CandidateSide) -> panes.Cell:
    return f"{VERDICTS.get(side.verdict, '·')} {side.verdict}", "passed" if side.verdict == "passed" else "failed"


CANDIDATES = panes.Kind(
    "candidates",
    "two candidates",
    {
        "body-texts": "Bodies",
        "left-original": "Original → A",
        "right-original": "Original → B",
        "failing-diff": "Failing tests",
        "docs-texts": "Docstrings",
        "prompt-texts": "Prompts",
    },
    lambda left, right, *scale: compare_candidates(*panes.both(left, right, read_candidate, "Candidate")),
)
KINDS = {"candidate": CANDIDATES}
