"""The one error class of the library."""

from collections.abc import Iterable

import pulumi

from .mistakes import Mistake, Mistakes, path_text


class WinkubeError(pulumi.InputPropertiesError, pulumi.RunError):
    """Every mistake that was found, at once.

    A ``RunError``, so that the CLI prints the text without a traceback; an ``InputPropertiesError``, so that
    a component provider can hand the list over with its paths.
    """

    mistakes: tuple[Mistake, ...]
    """What was found, in order."""

    def __init__(self, title: str, mistakes: Iterable[Mistake], root: str = "") -> None:
        self.mistakes = tuple(mistakes)
        lines = [mistake.text(root) for mistake in self.mistakes]
        self.text = "\n  ".join([f"{title}:", *lines])
        super().__init__(
            self.text,
            [
                pulumi.InputPropertyErrorDetails(
                    property_path=path_text(mistake.path, camel=True), reason=mistake.text(root)
                )
                for mistake in self.mistakes
            ],
        )

    def __str__(self) -> str:
        return self.text


def refuse(kind: str, name: str, mistakes: Mistakes) -> None:
    """Raise for a component's arguments, if there is anything to say.

    :raises WinkubeError: with every mistake, each under ``<kind> "<name>"``.
    """
    if mistakes:
        raise WinkubeError(f'{kind} "{name}" cannot be built from these arguments', mistakes, f"{kind}({name}).")
