"""Cases of the rules in ``rules/eks``."""
