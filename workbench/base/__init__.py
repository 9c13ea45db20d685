"""Errors, text, numbers, files, paths, settings and plug-ins, which are used by every other package."""
