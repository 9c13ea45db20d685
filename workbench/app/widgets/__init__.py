"""Widgets that several modes use."""
