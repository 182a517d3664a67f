"""The settings of a stack file: models, reading, and the JSON schema."""
