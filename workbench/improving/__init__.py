"""Improving docstrings: finding bad ones, the writer's prompt, and the gates that a new docstring must pass.

The package itself calls no model and runs no tests; :mod:`workbench.engine.improvement` does.
"""
