"""Documents as YAML text: the order of the keys is kept, and no text can be read as something else. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

Document = Mapping[str, Any]
"""A Kubernetes-style object: ``apiVersion``, ``kind`` and fields, in the order in which they are rendered."""

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./=+@-]*(:[A-Za-z0-9_./=+@-]+)*( [A-Za-z0-9_./=+@-]+)*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan"})
"""What YAML 1.1 or 1.2 takes for something else than text."""


class _Dumper(yaml.SafeDumper):
    """Writes texts quoted wherever a reader of YAML could take them for a number, a date or a boolean.

    Placeholders are quoted as well: what an agent writes in their place may be digits alone, such as the token
    ``123456.1234567890123456``.
    """

    def ignore_aliases(self, data: Any) -> bool:
        """Never write anchors: the same list twice is written twice."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if "\n" in text and not re.search(r"[ \t]\n|\t|^\s|\n\n$", text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")  # pyright: ignore[reportUnknownMemberType]
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _text)
_Dumper.add_multi_representer(Mapping, lambda dumper, value: dumper.represent_dict(dict(value).items()))  # pyright: ignore
_Dumper.add_multi_representer(tuple, lambda dumper, value: dumper.represent_list(list(value)))  # pyright: ignore


def render(documents: Document | Sequence[Document]) -> str:
    """One document, or several behind one another, as YAML; the same text for the same data.

    >>> render({"kind": "A", "token": "123456.1234567890123456", "name": "${INSTANCE_ID}", "on": True})
    'kind: A\\ntoken: "123456.1234567890123456"\\nname: "${INSTANCE_ID}"\\n"on": true\\n'
    """
    several = [documents] if isinstance(documents, Mapping) else list(documents)
    texts = [
        yaml.dump(
            dict(document), Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=10_000, allow_unicode=False
        )
        for document in several
    ]
    return "---\n".join(texts)
