"""What differs between two plans, and what that does."""
