"""What a stack file may say, and how it is read."""
