"""Use third-party programs as doc systems: RepoAgent, OSA, or any command.

Each program has an adapter that knows how to start it and where it writes its docstrings; ``program.DocProgram`` does
everything else.
"""
