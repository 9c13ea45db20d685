"""What all modes are made of; nothing in here knows a mode.

``mode_screen`` and ``run_screen`` are the frames of a mode, ``pane`` that of a widget in it; ``virtual_view``, ``row_list``, ``table``
and ``text_pane`` paint rows on demand; ``form`` asks, and ``ordering`` for work of an engine; ``latest`` is how work gets into a thread
and its result back; ``actions`` is what can be done with a run; ``document`` and ``amounts`` are plain data and functions. Text from
outside gets onto the screen through ``literal`` and ``texts``.
"""
