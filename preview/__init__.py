"""Evaluates any Pulumi Python program in process: without an engine, plugins or credentials.

:func:`winkube.preview.evaluation.evaluate.evaluate` runs a program against a recording monitor and returns a
:class:`winkube.preview.model.Plan`. ``checks`` adds findings to it, ``comparison`` compares two of them, ``output``
shows them. Nothing here knows the components of the library: the input is a program directory, the output a plan.
"""
