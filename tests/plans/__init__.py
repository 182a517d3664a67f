"""Plans as files that a reviewer reads, under ``tests/snapshots``: a YAML for each stack, and beside it what is packed.

A plan says what differs from the expected: a parent, a provider or a dependency that follows from the rest is not
written. Nothing else is left out, so plans that differ have different files. What is packed is unpacked:

- ``!json``, ``!base64``: a text that holds structure, or another text, shown as what it holds;
- ``!file``: code and documents of nodes, long texts, and what several stacks carry;
- ``!archive``: a zip, as the texts in it;
- ``!secret``, ``!unknown``, ``!resource``: what the engine's protocol marks so;
- ``<sha256 of …>``: a digest of something that stands here itself, or in a table that is reviewed.

So a change of a boot script changes the line of that script, and not the names of all that is derived from it.
"""
