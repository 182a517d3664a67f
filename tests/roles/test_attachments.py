"""How managed policies are attached: singly, and beside what others attach."""

from winkube.preview.model import Plan
from winkube.roles.policy_documents import managed_policy_arn
from winkube.roles.role import EksClusterRole, EksClusterRoleArgs, NodeRole, NodeRoleArgs

CONTROLLER = managed_policy_arn("AmazonEKSVPCResourceController")
CUSTOM = "arn:aws:iam::111122223333:policy/team/nodes"


def attached(plan: Plan) -> list[str]:
    return [
        resource.inputs["policyArn"] for resource in plan.resources if resource.type.endswith(":RolePolicyAttachment")
    ]


def test_the_policy_of_the_controller_stays_where_linux_pods_need_it(record):
    """Without Windows it goes, unless it is named: security groups for Linux pods are the controller's work too."""
    assert CONTROLLER not in attached(record(lambda: EksClusterRole("dev", EksClusterRoleArgs(windows=False))))
    args = EksClusterRoleArgs(windows=False, external_policies=[CONTROLLER])
    assert attached(record(lambda: EksClusterRole("dev", args))).count(CONTROLLER) == 1


def test_no_role_holds_its_attachments_alone(record):
    """Each attachment is a resource of its own, and nothing removes those that others made."""

    def build() -> None:
        EksClusterRole("dev", EksClusterRoleArgs(external_policies=[CUSTOM]))
        NodeRole("nodes", NodeRoleArgs(kind="eks-windows", external_policies=[CUSTOM]))

    plan = record(build)
    assert len(attached(plan)) == 2 + 3 + 2
    assert not [resource for resource in plan.resources if "Exclusive" in resource.type]
    roles = [resource for resource in plan.resources if resource.type.endswith(":Role")]
    assert len(roles) == 2
    for role in roles:
        assert not {"managedPolicyArns", "inlinePolicies"} & set(role.inputs)
