"""Evaluates any Pulumi Python program in process: no engine, no plug-ins, no credentials.

:func:`winkube.preview.evaluation.evaluate.evaluate` runs a program against a recording monitor and gives a
:class:`winkube.preview.model.Plan`; ``checks`` and ``policies`` add findings to it, ``render`` shows it.
Nothing here knows of the library's own components: a program directory goes in, a plan comes out.
"""
