"""Cases of the rules in ``rules/storage``."""
