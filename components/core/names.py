"""Physical names with a limit. Never a slice: two long names must not become one."""

from hashlib import sha256


def physical_name(*parts: str, limit: int) -> str:
    """The parts joined by hyphens; longer than ``limit``, the end gives way to a hash of the whole.

    >>> physical_name("prod", "system", limit=63)
    'prod-system'
    >>> len(physical_name("p" * 80, "system", limit=32))
    32
    """
    name = "-".join(part for part in parts if part)
    if len(name) <= limit:
        return name
    digest = sha256(name.encode()).hexdigest()[:8]
    if limit < 2 * len(digest):
        raise ValueError(f"a limit of {limit} characters is too short for a name that can be told apart")
    return f"{name[: limit - len(digest) - 1].rstrip('-.')}-{digest}"
