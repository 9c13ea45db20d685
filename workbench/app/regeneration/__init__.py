"""The widgets of the Regeneration mode and what they show.

``wording``, ``loading``, ``lines``, ``figures``, ``sample_content``, ``failures`` and ``search`` are plain functions over a
session, for worker threads; the rest are widgets. Numbers come from rows; pass@k from :mod:`workbench.regeneration.passk`.
"""
