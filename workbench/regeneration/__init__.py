"""Regeneration: from docstrings to candidate bodies, and from their verdicts to pass@k.

The way of the data: ``build_prompt`` shows the file up to a missing body, ``extract_body`` takes the body out of the
model's answer, ``workbench.repository.splicing.splice`` puts it into the file, ``summarise`` turns verdicts into
pass@k. Building tasks (environment, tracing, stub filter) lives in ``tasks``; it is imported by name, for it is heavier.
"""

from __future__ import annotations

from workbench.regeneration.context import DEFAULT_POLICY, POLICIES
from workbench.regeneration.extraction import EXTRACTION_VERSION, Extraction, extract_body
from workbench.regeneration.grafting import Graft, collect_docstrings, graft_file
from workbench.regeneration.leakage import Leakage, measure_leakage
from workbench.regeneration.passk import Estimate, PassReport, TaskCount, bootstrap_interval, pass_at_k, summarise
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
    "Leakage",
    "PassReport",
    "Prompt",
    "TaskCount",
    "bootstrap_interval",
    "build_prompt",
    "collect_docstrings",
    "documented_source",
    "extract_body",
    "graft_file",
    "measure_leakage",
    "minimal_stub",
    "pass_at_k",
    "stubs",
    "summarise",
    "typed_stub",
]
