"""Regeneration: from docstrings to candidate bodies, and from their verdicts to pass@k.

Data flow: ``build_prompt`` shows the file up to the missing body, ``extract_body`` extracts the body from the model's
answer, ``workbench.repository.splicing.splice`` puts it into the file, and ``summarise`` turns verdicts into pass@k.
Tasks are built (environment, tracing, stub filter) by ``building``, which is heavier and must be imported by name.
"""

from __future__ import annotations

from workbench.regeneration.context import DEFAULT_POLICY, POLICIES
from workbench.regeneration.extraction import EXTRACTION_VERSION, Extraction, extract_body
from workbench.regeneration.grafting import Graft, collect_docstrings, graft_file
from workbench.regeneration.intervals import Interval, interval_of
from workbench.regeneration.leakage import Leakage, measure_leakage
from workbench.regeneration.passk import Estimate, PassReport, TaskCount, pass_at_k, summarise
from workbench.regeneration.prompts import PROMPT_VERSION, PROMPTS, Prompt, build_prompt, documented_source
from workbench.regeneration.stubs import minimal_stub, stubs, typed_stub

__all__ = [
    "DEFAULT_POLICY",
    "EXTRACTION_VERSION",
    "POLICIES",
    "PROMPTS",
    "PROMPT_VERSION",
    "Estimate",
    "Extraction",
    "Graft",
    "Interval",
    "Leakage",
    "PassReport",
    "Prompt",
    "TaskCount",
    "build_prompt",
    "collect_docstrings",
    "documented_source",
    "extract_body",
    "graft_file",
    "interval_of",
    "measure_leakage",
    "minimal_stub",
    "pass_at_k",
    "stubs",
    "summarise",
    "typed_stub",
]
