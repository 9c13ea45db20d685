"""Doc systems that are other people's programs: RepoAgent, OSA, any command.

Each is an adapter (one file: how it is started, where it leaves its docstrings) in a :class:`DocProgram`, which does
the rest.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "work_folder": ["Kept", "forget", "kept"],
        "adapter": ["Adapter", "Place", "Start", "Written", "read_edited"],
        "installing": ["Installable", "Installed", "install", "installed", "interpreter", "remove"],
        "program": ["DocProgram", "INSTALLABLE", "doc_program", "written_out"],
    },
)
