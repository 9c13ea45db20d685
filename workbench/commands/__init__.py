"""The commands of the command line, one module each.

A module defines ``ARGUMENTS`` and ``run(arguments)``, or ``VERBS``.
"""
