"""Cases of the rules in ``rules/identity``."""
