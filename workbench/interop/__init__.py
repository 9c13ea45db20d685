"""Support for the formats and protocols of other programs."""
