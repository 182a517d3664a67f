"""The program that runs on every Linux node: makes, joins, keeps and leaves a cluster.

Python 3.9 and later, the standard library and botocore; nothing of the rest of winkube is on a node.
"""
