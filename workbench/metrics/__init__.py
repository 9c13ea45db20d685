"""Metrics of texts beside pass@k, and the analysis of the doc-to-code paper from its published tables.

Packages of the extra ``metrics`` are imported when something is computed; MetricUnavailable says what is missing.
"""
