"""The agent of Linux nodes: the program itself, how it is packed, loaded, and what it is told."""
