"""Formats and protocols of other programs."""
