"""For how many days CloudWatch keeps the events of a log group.

Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html, read on
2026-11-21.
"""

from ..core.mistakes import Rule

RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
                  3653)  # fmt: skip

LOG_RETENTION = Rule(
    "WK-EKS-007",
    "The retention must be a period that CloudWatch Logs offers.",
    "https://docs.aws.amazon.com/cli/latest/reference/logs/put-retention-policy.html",
)
