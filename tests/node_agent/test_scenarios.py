"""first"""

from tests.node_agent.bed import Bed


def test_three_agents_at_once(bed: Bed) -> None:
    """Three agents started together make one cluster of three members, and one makes it."""
    machines = [bed.machine(slot).start() for slot in bed.slots]
    bed.wait(lambda: all(one.ready() for one in machines))
    assert bed.voters() == {one.name for one in machines}
    assert len(bed.journal("init-done")) == 1
    bed.check()
