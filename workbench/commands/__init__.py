"""The commands of the command line, one module each, with ``ARGUMENTS`` and ``run(arguments)``, or ``VERBS``."""
