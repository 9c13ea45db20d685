"""Metrics of texts beside pass@k, how they go with it, and the analysis of the doc-to-code paper from its published tables.

None of it is needed by the app. What needs a package of the extra ``metrics`` imports it when it computes, and says in one
sentence what is missing.
"""
