"""Turn docstrings into candidate bodies, and the verdicts on these bodies into pass@k.

``build_prompt`` shows the file up to the missing body, ``extract_body`` extracts the body from the answer,
``repository.splice`` inserts it into the file, and ``summarise`` computes pass@k from the verdicts. ``building`` is
more expensive to import and must be imported explicitly.
"""

import lazy_loader

# Nothing is imported here. A package that imports its own modules can deadlock with a thread importing one of them.
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
