"""Values and texts as they may be shown."""
