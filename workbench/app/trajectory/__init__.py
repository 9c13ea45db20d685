"""The widgets of the Trajectory mode and what they show.

``document``, ``syntax``, ``markdown``, ``loading``, ``step_content``, ``outcome``, ``comparison``, ``scores`` and ``search``
are plain functions over a session, for worker threads; the rest are widgets. Other modes may use :class:`Painted` (rows
painted on demand), :class:`TextPane` (a viewer of documents) and the functions that make documents.
"""
