"""The names of the formats that can be written, and what of a session they hold. Cheap to import."""

from __future__ import annotations

from collections.abc import Mapping

TRAJECTORIES: Mapping[str, str] = {
    "atif": "trajectories as ATIF 1.8, a file each",
    "inspect": "trajectories as a log of Inspect, .eval or .json",
    "openai": "conversations as OpenAI chat lines, for fine-tuning",
}
CANDIDATES: Mapping[str, str] = {
    "evalplus": "samples of EvalPlus, JSON lines",
    "evalplus-results": "verdicts as EvalPlus writes them, one JSON file",
    "humaneval": "tasks as problems of HumanEval, JSON lines",
    "repotest": "tasks as rows of RealCode and repotest, JSON lines or Parquet",
    "junit": "verdicts as JUnit XML",
}
TABLES: Mapping[str, str] = {
    "csv": "tables, a .csv file each",
    "jsonl": "tables, a .jsonl file each",
    "parquet": "tables, a .parquet file each",
}
OUT: Mapping[str, str] = {**TRAJECTORIES, **CANDIDATES, **TABLES}
