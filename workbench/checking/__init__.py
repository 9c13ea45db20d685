"""Check documentation: run its code blocks in a sandbox and look up its claims in the repository."""

import lazy_loader

# Nothing is imported eagerly: a package that imports its own modules can deadlock with a thread that imports one of
# them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "pages": ["check", "fixed"],
        "verdicts": ["BlockResult", "CheckResult", "BlockVerdict"],
    },
)
