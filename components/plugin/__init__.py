"""The components for other languages: what ``pulumi package add`` reads of this repository."""
