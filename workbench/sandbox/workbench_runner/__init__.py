"""Code inside a sandbox: standard library only (plus pytest and coverage from the repository's environment).

Nothing here may import from ``workbench``: the folder is mounted into the sandbox alone, and runs on the repository's
own Python (3.9 or later).
"""
