"""The zone component and the record of an API."""

from dataclasses import fields

import pytest
from winkube.core.errors import WinkubeError
from winkube.preview.model import UNKNOWN, Plan
from winkube.zone.names import ZoneLike
from winkube.zone.zone import ApiRecord, ApiRecordArgs, ClusterZone, ClusterZoneArgs

TAGS = {"team": "platform"}


def of_type(plan: Plan, kind: str) -> dict:
    return {resource.name: resource for resource in plan.resources if resource.type.endswith(f":{kind}")}


def test_the_arguments_have_what_is_judged():
    properties = {name for name, value in vars(ZoneLike).items() if isinstance(value, property)}
    assert properties <= {field.name for field in fields(ClusterZoneArgs)}


@pytest.mark.parametrize(
    ("visibility", "zones"),
    [("public", {"dns-public"}), ("private", {"dns-private"}), ("both", {"dns-public", "dns-private"})],
)
@pytest.mark.parametrize("preview", [True, False])
def test_zones_by_visibility(record, visibility: str, zones: set[str], preview: bool):
    """Both zones have the same name; the private one is tied to its VPCs; only the public one has name servers."""
    vpc_ids = ["vpc-1", "vpc-2"] if visibility != "public" else []
    args = ClusterZoneArgs(domain="dev.example.com", visibility=visibility, vpc_ids=vpc_ids, tags=TAGS)
    plan = record(lambda: ClusterZone("dns", args), preview=preview)
    made = of_type(plan, "Zone")
    assert set(made) == zones
    assert {zone.inputs["name"] for zone in made.values()} == {"dev.example.com"}
    assert all(zone.inputs["tags"] == {"Name": name, "team": "platform"} for name, zone in made.items())
    if "dns-private" in zones:
        assert made["dns-private"].inputs["vpcs"] == [{"vpcId": "vpc-1"}, {"vpcId": "vpc-2"}]
    if "dns-public" in zones:
        assert "vpcs" not in made["dns-public"].inputs
    outputs = of_type(plan, "ClusterZone")["dns"].outputs
    assert outputs["domain"] == "dev.example.com"
    assert (outputs.get("publicZoneId") is None) == (visibility == "private")
    assert (outputs.get("privateZoneId") is None) == (visibility == "public")
    if visibility != "private":
        assert (outputs["nameServers"] is UNKNOWN) == preview


def test_a_public_zone_is_delegated_from_its_parent(record):
    """The NS record in the parent holds the name servers that AWS gives."""
    args = ClusterZoneArgs(domain="dev.example.com", visibility="public", parent_zone_id="ZPARENT")
    plan = record(lambda: ClusterZone("dns", args), preview=True)
    delegation = of_type(plan, "Record")["dns-public-delegation"].inputs
    assert (delegation["zoneId"], delegation["name"], delegation["type"]) == ("ZPARENT", "dev.example.com", "NS")
    assert delegation["records"] is UNKNOWN
    assert delegation["ttl"] == 300


def test_without_a_parent_nothing_is_delegated(record):
    plan = record(lambda: ClusterZone("dns", ClusterZoneArgs(domain="dev.example.com", visibility="public")))
    assert not of_type(plan, "Record")


def test_mistakes_are_raised_before_anything_is_registered(record):
    def build():
        with pytest.raises(WinkubeError, match=r"ClusterZone\(dns\)\.domain: the label .* \[WK-DNS-001\]"):
            ClusterZone("dns", ClusterZoneArgs(domain="Dev.example.com", visibility="public"))

    assert record(build).resources == []


def test_the_api_record_is_an_alias_in_every_zone(record):
    """Resolvable before any API server is healthy: its absence would be remembered."""

    def build():
        zone = ClusterZone("dns", ClusterZoneArgs(domain="dev.example.com", visibility="both", vpc_ids=["vpc-1"]))
        api = ApiRecord(
            "api",
            ApiRecordArgs(
                cluster_name="one.dev.example.com",
                domain=zone.domain,
                zone_ids=zone.zone_ids,
                balancer_dns_name="nlb.elb.example",
                balancer_zone_id="ZNLB",
            ),
        )
        assert api.fqdn == "api.one.dev.example.com"

    records = of_type(record(build, preview=False), "Record")
    assert set(records) == {"api-public", "api-private"}
    for entry in records.values():
        assert (entry.inputs["name"], entry.inputs["type"]) == ("api.one.dev.example.com", "A")
        assert entry.inputs["aliases"] == [{"name": "nlb.elb.example", "zoneId": "ZNLB", "evaluateTargetHealth": False}]


def test_an_api_record_outside_of_its_zone_or_in_none_is_refused(record):
    """WK-DNS-007 and WK-DNS-009."""
    args = ApiRecordArgs(
        cluster_name="one.prod.example.com",
        domain="dev.example.com",
        zone_ids={},
        balancer_dns_name="x",
        balancer_zone_id="y",
    )

    def build():
        with pytest.raises(WinkubeError) as raised:
            ApiRecord("api", args)
        assert [(mistake.rule.code, mistake.path) for mistake in raised.value.mistakes] == [
            ("WK-DNS-007", ("cluster_name",)),
            ("WK-DNS-009", ("zone_ids",)),
        ]

    assert record(build).resources == []
