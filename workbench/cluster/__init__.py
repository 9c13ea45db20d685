"""Test candidates on many machines, with the workers of a Dask cluster as sandboxes.

Only tests run on the cluster: the engine still asks models and writes the session. It is reached by an entry point, the
scheme of its address; the package ``distributed`` (extra ``cluster``) is imported only when a cluster is used.
"""
