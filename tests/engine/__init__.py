"""The program under an engine: the real one where it is installed, and one written for the tests everywhere else.

- :mod:`.plugin` is what runs as ``pulumi-resource-aws``, ``-tls`` and ``-kubernetes``: stand-ins over real gRPC that
  check nothing. What they make is a folder of files (:mod:`.cloud`), so that a test can look at it and change it.
- :mod:`.engine` does what the engine does: it starts the program in a process of its own, with the SDK's own runtime,
  takes what it registers, and lets the plug-ins carry it out.
- :mod:`.real` uses the CLI of Pulumi with the same plug-ins, and skips where there is none.

A green run says nothing about AWS accepting the values.
"""
