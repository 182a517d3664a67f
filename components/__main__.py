"""Starts the component provider: Pulumi runs this folder with the environment of its requirements.txt."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python puts this folder first on its path, where our rooms would stand in for packages of the same name.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]
    from winkube.plugin.provider import serve

    serve()
