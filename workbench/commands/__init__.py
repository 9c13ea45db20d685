"""The commands of the command line, one module each: ``SUMMARY``, ``add_arguments(parser)``, ``run(arguments)``."""
