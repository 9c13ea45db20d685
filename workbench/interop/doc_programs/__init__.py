"""Doc systems that are other people's programs: RepoAgent, OSA, any command.

Each is an adapter (how it is started, where it leaves its docstrings) in a ``program.DocProgram``, which does the rest.
"""
