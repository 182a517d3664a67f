"""``python -m tests.plans`` (``make snapshots``) writes the snapshots of all stacks anew."""

from .stacks import current_files, difference, kept_files, renew

if __name__ == "__main__":
    print(difference(kept_files(), current_files()) or "All snapshots are as they were.")
    renew()
