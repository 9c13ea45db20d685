"""Metrics of texts beside pass@k, and the paper's analysis; extra packages are imported when one is computed."""
