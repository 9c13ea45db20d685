"""What a page says and what a project has: one parser of pages, one of commands, one of examples, one index of a project."""
