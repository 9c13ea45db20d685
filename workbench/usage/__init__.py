"""Usage tasks: what a reader of a page can do with a project, measured by execution."""
