"""Cases of the rules in ``rules/windows_workloads``."""
