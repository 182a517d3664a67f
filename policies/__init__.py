"""A Pulumi policy pack: rules over planned resources.

``rules`` holds the rules as pure functions over plain data, ``pack`` makes them policies (``POLICIES``), and
``__main__`` serves them: ``pulumi preview --policy-pack policies``, or ``winkube preview --policies policies``.
Constructing a ``PolicyPack`` never returns, so nothing but ``__main__`` does it.
"""
