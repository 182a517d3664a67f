"""Cases of the rules in ``rules/network``."""
