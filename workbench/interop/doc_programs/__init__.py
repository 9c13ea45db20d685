"""Third-party programs as doc systems: RepoAgent, OSA, any command.

Each has an adapter (how to start it, where it leaves its docstrings); ``program.DocProgram`` does the rest.
"""
