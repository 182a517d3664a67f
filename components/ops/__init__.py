"""Commands for people who look after a self-managed cluster: they speak to AWS, never to a machine by SSH."""
