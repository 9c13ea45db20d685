"""Parsers for pages, commands and code examples, and an index of a project, for finding claims and looking them up."""
