"""Parsers for pages, commands and code examples, and an index of a project, with which claims are found and looked up."""
