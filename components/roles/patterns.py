"""The patterns of IAM: ``*`` for any text, ``?`` for one character, nothing else. Pure."""

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = (".*" if mark == "*" else "." if mark == "?" else re.escape(mark) for mark in re.split(r"([*?])", pattern))
    return re.compile("".join(parts), re.DOTALL)


def matches(text: str, pattern: str) -> bool:
    """Whether a text is one of those that a pattern means.

    >>> matches("getobject", "get*"), matches("arn:aws:s3:::a", "arn:aws:s3:::a/?")
    (True, False)
    """
    return _compiled(pattern).fullmatch(text) is not None


def can_meet(one: str, other: str) -> bool:
    """Whether some text matches both patterns.

    >>> can_meet("arn:*:s3:::*/*", "arn:aws:s3:::state/*"), can_meet("arn:*:s3:::*/*", "arn:aws:s3:::state")
    (True, False)
    """
    if "*" not in other and "?" not in other:
        return matches(other, one)
    # Column by column: can the rest of `one` from i and the rest of `other` from j still become the same text?
    following = [not one[i:].strip("*") for i in range(len(one) + 1)]
    for j in range(len(other) - 1, -1, -1):
        current = [False] * (len(one) + 1)
        current[-1] = not other[j:].strip("*")
        for i in range(len(one) - 1, -1, -1):
            if one[i] == "*":
                current[i] = current[i + 1] or following[i]
            elif other[j] == "*":
                current[i] = following[i] or current[i + 1]
            else:
                current[i] = following[i + 1] and (one[i] == other[j] or "?" in (one[i], other[j]))
        following = current
    return following[0]


def arns_can_meet(one: str, other: str) -> bool:
    """Whether two patterns of ARNs, which may hold policy variables such as ``${aws:username}``, share an ARN.

    >>> arns_can_meet("arn:*:s3:::*", "arn:aws:ec2:*:*:instance/*")
    False
    """
    # Field by field: the star for a partition must not swallow the service.
    fields = zip(_fields(one), _fields(other), strict=False)
    return all(can_meet(left, right) for left, right in fields)


def _fields(arn: str) -> list[str]:
    return re.sub(r"\$\{[^}]*\}", "*", arn).split(":", 5)
