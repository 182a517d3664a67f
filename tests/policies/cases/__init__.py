"""What keeps each rule, what breaks it, and what cannot be decided yet."""
