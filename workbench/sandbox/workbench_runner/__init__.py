"""What runs inside a sandbox: standard library only (plus pytest and coverage from the repository's environment).

A package rather than one file, because it has four reasons to change: the tree that a candidate sees (``tree``), the
process that runs it (``child``), the process that has the repository imported already (``hot``), and the server that
outlives them all and decides (``server``, ``processes``, ``judge``). Nothing here may import from ``workbench``: the
folder is mounted into the sandbox alone, and runs on the repository's own Python (3.9 or later).
"""
