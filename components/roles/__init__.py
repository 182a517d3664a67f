"""IAM roles with additional policies, and the documents they are made of."""
