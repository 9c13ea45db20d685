"""A terminal workbench for documentation agents: run them, trace them, score them, and test what their docs are worth."""

__version__ = "0.1.0"
