"""Make a study: choose rows, columns and limits in a dialog, see what that takes, start it or save it as a ``study.toml``."""
