"""Cases of the rules in ``rules/workloads``."""
