"""What EC2 instances of both flavours share: launch template, proxy, warm pool, sizes."""
