"""What moto leaves out of the services that machines and ``winkube cluster`` use, added to its backends.

An instance that its group ends waits for the hook of the group, and remembers from which template it was started;
targets are as healthy as the balancer finds them; Run Command runs commands.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from moto.autoscaling.models import InstanceState, TerminateInstanceActivity
from moto.autoscaling.responses import AutoScalingResponse
from moto.backends import get_backend
from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.responses import EC2Response
from moto.elbv2.models import FakeHealthStatus

ACCOUNT = "123456789012"
TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING"


@dataclass
class Emulation:
    """The additions, for one region."""

    region: str
    health: Callable[[str], str]
    """How the balancer finds an instance: ``healthy``, ``unhealthy``, ``initial``."""
    execute: Callable[[str, str], Any]
    """Runs a shell command on an instance."""
    leaving: dict[str, Any] = field(default_factory=dict[str, Any])
    """Instances that their group ends, and that a hook keeps: with their state in the group."""
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """Versions of launch templates by the instances that were started from them, as they were first seen."""

    def __post_init__(self) -> None:
        scaling, balancing = self._backend("autoscaling"), self._backend("elbv2")
        self._scaling = scaling
        self._terminate, self._described = scaling.terminate_instance, scaling.describe_auto_scaling_instances
        scaling.terminate_instance = self._end
        scaling.describe_auto_scaling_instances = self._describe
        balancing.describe_target_health = self._target_health
        systems = self._backend("ssm")
        send = systems.send_command

        def send_command(**given: Any) -> Any:
            for instance in given["instance_ids"]:
                for command in given["parameters"]["commands"]:
                    threading.Thread(target=self.execute, args=(instance, command), daemon=True).start()
            return send(**given)

        systems.send_command = send_command
        emulation = self

        def complete_lifecycle_action(response: AutoScalingResponse) -> Any:
            emulation.release(str(response._get_param("InstanceId")))
            return EmptyResult()

        def describe_instance_topology(response: EC2Response) -> Any:
            # As EC2 answers for the types that have none.
            return ActionResult({"Instances": []})

        def launch_template(state: InstanceState) -> dict[str, Any]:
            # moto names the template's first version for every instance.
            now = state.auto_scaling_group.launch_template
            return {**now, "Version": emulation.versions.setdefault(state.instance.id, now["Version"])}

        InstanceState.launch_template = property(launch_template)  # pyright: ignore
        AutoScalingResponse.complete_lifecycle_action = complete_lifecycle_action  # pyright: ignore
        EC2Response.describe_instance_topology = describe_instance_topology  # pyright: ignore

    def lose(self, instance: str) -> None:
        """An instance ends without a word; its group makes another one."""
        self._terminate(instance, should_decrement=False)

    def release(self, instance: str) -> None:
        """The hook of an instance is through."""
        if self.leaving.pop(instance, None):
            self._backend("ec2").terminate_instances([instance])

    def _backend(self, service: str) -> Any:
        return get_backend(service)[ACCOUNT][self.region]  # pyright: ignore[reportArgumentType]

    def _end(self, instance_id: str, should_decrement: bool) -> Any:
        states = [one for group in self._scaling.autoscaling_groups.values() for one in group.instance_states]
        state = next(one for one in states if one.instance.id == instance_id)
        group = state.auto_scaling_group
        hooks = self._scaling.describe_lifecycle_hooks(group.name)
        if not any(hook.lifecycle_transition == TERMINATING for hook in hooks):
            return self._terminate(instance_id, should_decrement)
        size = group.desired_capacity
        state.lifecycle_state = "Terminating:Wait"
        self.leaving[instance_id] = state
        # The group makes the next one at once; the instance runs until its hook is through.
        self._scaling.detach_instances(group.name, [instance_id], should_decrement)
        return TerminateInstanceActivity(state.instance, size)

    def _describe(self, instance_ids: list[str]) -> list[Any]:
        waiting = [one for name, one in self.leaving.items() if not instance_ids or name in instance_ids]
        return [*self._described(instance_ids), *waiting]

    def _target_health(self, target_group_arn: str, targets: list[dict[str, Any]]) -> list[FakeHealthStatus]:
        return [FakeHealthStatus(str(one["Id"]), "6443", "6443", self.health(str(one["Id"]))) for one in targets]
