"""What the checks and programs of all flavours share."""
