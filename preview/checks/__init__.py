"""What is wrong with a plan."""
