"""Whether the tags that a group's spec makes are ones that Auto Scaling and the autoscaler take. Pure."""

from ..core.mistakes import Mistakes, Rule
from ..core.tags import check_tags
from .rollout import AUTO_SCALING
from .rule_protocols import InstanceGroupLike, TargetLike
from .spec import group_spec

GROUP_TAGS = Rule(
    "WK-IG-034",
    "An Auto Scaling group can have at most 50 tags, including those for the cluster autoscaler.",
    f"{AUTO_SCALING}/ec2-auto-scaling-tagging.html",
)
AUTOSCALER_TAINT = Rule(
    "WK-IG-035",
    "Tags for the cluster autoscaler can hold only one taint per key.",
    "https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/cloudprovider/aws",
)

TAG_LIMIT = 50


def check_derived_tags(group: InstanceGroupLike, target: TargetLike) -> Mistakes:
    """Every mistake in the tags that say labels and taints to the autoscaler; the group is right otherwise."""
    found = Mistakes()
    spec = group_spec(group, target.cluster_name)
    if not spec.autoscaler_tags:
        return found
    seen: dict[str, int] = {}
    for index, taint in enumerate(spec.taints):
        first = seen.setdefault(taint.key, index)
        if first != index:
            own = index - (len(spec.taints) - len(group.taints))
            found.add(AUTOSCALER_TAINT, ("taints", own, "key"), "the autoscaler reads one taint per key, and the "
                      "group has two with this one", "use another key, or set autoscaler_tags to false",
                      taint.key)  # fmt: skip
    for mistake in check_tags(spec.autoscaler_tags, ()):
        key = str(mistake.path[0])
        field = "taints" if "/node-template/taint/" in key else "labels"
        said = key.partition("/node-template/")[2].partition("/")[2]
        found.add(mistake.rule, (field, said), f"as a tag for the autoscaler this is {key}, and {mistake.message}",
                  "shorten the key, or set autoscaler_tags to false", said)  # fmt: skip
    number = len({"Name", *group.tags, *spec.instance_tags, *spec.autoscaler_tags})
    if number > TAG_LIMIT:
        found.add(GROUP_TAGS, ("tags",), f"an Auto Scaling group has at most {TAG_LIMIT} tags, and labels, taints and "
                  f"tags of this one make {number}", f"remove {number - TAG_LIMIT} of them, or set autoscaler_tags to "
                  "false", number)  # fmt: skip
    return found
