"""StateBucket: the S3 bucket for cluster state and boot code."""
