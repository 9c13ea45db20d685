"""A terminal workbench for documentation agents: run them, trace them, score them, and test the quality of their docs."""

__version__ = "0.1.0"
