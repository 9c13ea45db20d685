"""Improving docstrings: finding bad ones, the writer's prompt, and the gates that a new docstring must pass.

The package itself asks no model and runs no test; :mod:`workbench.engine.improvement` does.
"""
