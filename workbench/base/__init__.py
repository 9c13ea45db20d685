"""Errors, text, numbers, files, paths, settings, plug-ins: used by every other package."""
