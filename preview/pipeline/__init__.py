"""From stacks to results: processes, revisions, pull requests."""
