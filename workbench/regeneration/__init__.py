"""From docstrings to candidate bodies, and from their verdicts to pass@k.

``build_prompt`` shows the file up to the missing body, ``extract_body`` takes the body out of the answer,
``repository.splice`` puts it into the file, and ``summarise`` turns verdicts into pass@k. ``building`` is heavier and
must be imported by name.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "extraction": ["EXTRACTION_VERSION", "Extraction", "extract_body"],
        "grafting": ["Graft", "collect_docstrings", "graft_file"],
        "leakage": ["Leakage", "measure_leakage"],
        "passk": ["PassEstimate", "TaskCount", "interval_of", "pass_at_k", "summarise"],
        "prompts": [
            "DEFAULT_POLICY",
            "POLICIES",
            "PROMPTS",
            "PROMPT_VERSION",
            "Prompt",
            "build_prompt",
            "documented_source",
        ],
        "tasks": ["minimal_stub", "stubs", "typed_stub"],
    },
)
