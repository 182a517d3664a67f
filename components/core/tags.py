"""Tags of AWS resources."""

from collections.abc import Mapping

from .mistakes import Mistakes, Path, Rule

TAG_LIMITS = Rule(
    "WK-TAG-001",
    "A tag key has 1 to 128 characters, and a tag value at most 256.",
    "https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html",
)
TAG_RESERVED = Rule(
    "WK-TAG-002",
    "Tag keys that begin with aws: are reserved for AWS.",
    "https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html",
)


def check_tags(tags: Mapping[str, str], path: Path = ("tags",)) -> Mistakes:
    """What AWS would refuse of these tags."""
    found = Mistakes()
    for key, value in tags.items():
        if not 1 <= len(key) <= 128 or len(value) > 256:
            found.add(TAG_LIMITS, (*path, key), "a tag key has 1 to 128 characters, and a tag value at most 256",
                      "shorten the tag", value)  # fmt: skip
        if key.lower().startswith("aws:"):
            found.add(
                TAG_RESERVED,
                (*path, key),
                "tag keys that begin with aws: are reserved for AWS",
                "rename the tag",
                value,
            )
    return found


def named(tags: Mapping[str, str], name: str, **more: str) -> dict[str, str]:
    """``tags`` with the ``Name`` that the console shows; sorted, so that a preview does not move.

    >>> named({"team": "x"}, "dev-vpc")
    {'Name': 'dev-vpc', 'team': 'x'}
    """
    return dict(sorted({"Name": name, **tags, **more}.items()))


def cluster_tag(cluster_name: str, *, owned: bool = True) -> dict[str, str]:
    """The tag by which Kubernetes controllers find what belongs to a cluster."""
    return {f"kubernetes.io/cluster/{cluster_name}": "owned" if owned else "shared"}
