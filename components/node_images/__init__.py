"""Own images of Windows nodes, for clusters of both flavours: what EC2 Image Builder makes of them."""
