"""Usage tasks measure, by execution, how well a page enables its readers to use a project."""
