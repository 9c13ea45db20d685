"""The sums over samples that SQLite keeps: the columns of ``verdict_counts``, and the triggers that fill it."""

from __future__ import annotations

COUNTS = "coalesce({0}verdict != 'error', 0)"
"""Whether a candidate is a sample of pass@k, in SQL; ``{0}`` is the table with its dot, or nothing. See :func:`is_counted`."""


def is_counted(verdict: str | None) -> bool:
    """Return whether a candidate is a sample of pass@k: it has a verdict, and not by an error of the Workbench."""
    return verdict not in (None, "", "error")


GROUPED = ("task_id", "evaluator", "prompt", "context", "settings", "control")
# Column of verdict_counts -> what a candidate adds to it; the rules are those of workbench.regeneration.outcome.
COUNTED = {
    "samples": "1",
    "waiting": "{0}verdict IS NULL",
    "counted": COUNTS,
    "passed": "coalesce({0}verdict = 'passed', 0)",
    "doubtful": "coalesce({0}verdict = 'passed' AND {0}doubtful IS NOT NULL, 0)",
    "repaired": "coalesce({0}verdict = 'passed' AND {0}repairs > 0, 0)",
    "tokens": "coalesce({0}prompt_tokens, 0) + coalesce({0}completion_tokens, 0)",
    "priced": "{0}cost_usd IS NOT NULL",
    "cost_usd": "coalesce({0}cost_usd, 0)",
    "seconds": "coalesce({0}asked_s, 0) + coalesce({0}tested_s, 0)",
}
_CHANGING = (
    "verdict, doubtful, repairs, prompt_tokens, completion_tokens, cost_usd, asked_s, tested_s, task_id, evaluator, prompt, "
    "context, settings, control"
)


def _counting(side: str, sign: str) -> str:
    sums = ", ".join(f"{name} = {name} {sign} ({sql.format(side)})" for name, sql in COUNTED.items())
    return f"UPDATE verdict_counts SET {sums} WHERE {' AND '.join(f'{name} = {side}{name}' for name in GROUPED)};"


# No conflict clause: that of the statement which sets off the trigger would take its place.
_NEW_GROUP = (
    f"INSERT INTO verdict_counts ({', '.join(GROUPED)}) SELECT {', '.join(f'NEW.{name}' for name in GROUPED)} "
    f"WHERE NOT EXISTS (SELECT 1 FROM verdict_counts WHERE {' AND '.join(f'{name} = NEW.{name}' for name in GROUPED)});"
)
COUNTING = (
    f"CREATE TRIGGER verdict_counts_insert AFTER INSERT ON candidates BEGIN {_NEW_GROUP} {_counting('NEW.', '+')} END;",
    f"CREATE TRIGGER verdict_counts_update AFTER UPDATE OF {_CHANGING} ON candidates BEGIN {_counting('OLD.', '-')} "
    f"{_NEW_GROUP} {_counting('NEW.', '+')} END;",
    f"CREATE TRIGGER verdict_counts_delete AFTER DELETE ON candidates BEGIN {_counting('OLD.', '-')} END;",
)
COUNTS_OF_CANDIDATES = (
    f"(SELECT {', '.join(GROUPED)}, {', '.join(f'sum({sql.format(str())}) AS {name}' for name, sql in COUNTED.items())} "
    f"FROM candidates GROUP BY {', '.join(GROUPED)})"
)
"""SQL for what verdict_counts says, counted anew: for files of versions that did not keep it."""
