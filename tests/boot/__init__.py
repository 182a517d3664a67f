"""The boot, executed: machines (systemd containers) run the user data of a stack, byte for byte, up to a real cluster.

``python -m tests.boot up`` leaves a cluster running; ``python -m tests.boot --list`` names the scenarios.
"""
