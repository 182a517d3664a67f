"""How plans and differences are shown."""
