"""Docstrings that carry their function: which ones do not, what a writer is told, and what a new one must hold before it counts.

Nothing here asks a model or runs a test: :mod:`workbench.engine.improvement` does, and asks this package in between.
"""
