"""How a Windows Server instance becomes a node: boot code, the document beside it, and the user data that starts it."""
