"""The Cases mode: what can be worked on, browsed before and without a run.

The model (``listing``, ``files``) are plain functions over the catalogue, for worker threads. The presenter (``browsing``,
``starting``) decides what is read. ``screen`` and the rest are widgets.
"""
