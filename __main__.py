"""The program of the project: see ``stacks``."""

from stacks import deploy

deploy()
