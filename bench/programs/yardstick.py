"""The yardstick: what the SDK itself costs here, 100 plain resources under its own mocks."""

import asyncio

import pulumi
import pulumi_aws as aws
from pulumi.runtime import mocks


class Mocks(mocks.Mocks):
    """Every resource gets its inputs back."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, object]]:
        """Echo the inputs."""
        return f"{args.name}-id", args.inputs

    def call(self, args: mocks.MockCallArgs) -> dict[str, object]:
        """Answer nothing."""
        del args
        return {}


asyncio.set_event_loop(asyncio.new_event_loop())
mocks.set_mocks(Mocks())


@pulumi.runtime.test
def make() -> None:
    """Make the resources."""
    for index in range(100):
        aws.ec2.Subnet(f"subnet{index}", vpc_id="vpc-1", cidr_block="10.0.0.0/24", tags={"Name": f"subnet{index}"})


make()
