"""Writes plans and differences: tree, JSON, Markdown, SARIF, JUnit, timeline, HTML page and topology."""
