"""Cases of the rules in ``rules/instances``."""
