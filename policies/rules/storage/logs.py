"""Log groups."""

from collections.abc import Iterator

from ...frameworks import cis_eks, fsbp
from ...model import Option, Planned, Settings, resource_rule
from ...resource_types import LOG_GROUP


@resource_rule(
    "log-retention",
    "Log groups have a retention period",
    types=[LOG_GROUP],
    severity="low",
    references=[cis_eks("2.1.2"), fsbp("CloudWatch.16")],
    steps="set retention_in_days to 90 or more",
    url="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/Working-with-log-groups-and-streams.html",
    options={
        "minimumDays": Option(
            90, "minimum retention of control plane logs in days; CloudWatch.16 requires 365",
            {"type": "integer", "minimum": 1},
        ),
    },
)  # fmt: skip
def log_retention(resource: Planned, settings: Settings) -> Iterator[str]:
    """The minimum applies only to control planes, whose audit log is evidence."""
    days = resource["retentionInDays"].number
    if not days:
        if resource["logGroupClass"].settled != "DELIVERY":
            yield "the log group keeps its events forever"
        return
    name = resource["name"].settled
    audit = isinstance(name, str) and name.startswith("/aws/eks/") and name.endswith("/cluster")
    if audit and days < settings["minimumDays"]:
        yield f"the control plane's logs are kept for {days} days, less than {settings['minimumDays']}"
