"""``imdsv2-required`` in depth."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from winkube.policies.model import UNKNOWN, Planned, Undecided
from winkube.policies.resource_types import INSTANCE, LAUNCH_CONFIGURATION, LAUNCH_TEMPLATE
from winkube.policies.rules.instances.credentials import imdsv2_required as imdsv2_rule

from ...nodes import planned


def imdsv2_required(resource: Planned) -> Iterable[str]:
    assert imdsv2_rule.resource is not None
    return imdsv2_rule.resource(resource, {})


@pytest.mark.parametrize("kind", [LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION, INSTANCE])
class TestImdsv2:
    def test_required_tokens_keep_the_rule(self, kind: str) -> None:
        resource = planned(kind, "x", {"metadataOptions": {"httpTokens": "required", "httpEndpoint": UNKNOWN}})
        assert list(imdsv2_required(resource)) == []

    def test_no_metadata_at_all_keeps_the_rule(self, kind: str) -> None:
        assert list(imdsv2_required(planned(kind, "x", {"metadataOptions": {"httpEndpoint": "disabled"}}))) == []

    @pytest.mark.parametrize(
        ("props", "got"),
        [
            ({}, "is not set"),
            ({"metadataOptions": {}}, "is not set"),
            ({"metadataOptions": {"httpTokens": "optional"}}, 'is "optional"'),
        ],
    )
    def test_anything_else_breaks_it(self, kind: str, props: Mapping[str, Any], got: str) -> None:
        (message,) = imdsv2_required(planned(kind, "x", props))
        assert message.endswith(f"metadataOptions.httpTokens {got}")

    @pytest.mark.parametrize(
        ("props", "path"),
        [
            ({"metadataOptions": UNKNOWN}, "metadataOptions"),
            ({"metadataOptions": {"httpTokens": UNKNOWN}}, "metadataOptions.httpTokens"),
            ({"metadataOptions": {"httpEndpoint": UNKNOWN}}, "metadataOptions.httpEndpoint"),
        ],
    )
    def test_an_unknown_value_cannot_be_decided(self, kind: str, props: Mapping[str, Any], path: str) -> None:
        with pytest.raises(Undecided) as undecided:
            list(imdsv2_required(planned(kind, "x", props)))
        assert undecided.value.path == path


def test_an_instance_takes_the_options_of_its_launch_template() -> None:
    assert list(imdsv2_required(planned(INSTANCE, "x", {"launchTemplate": {"id": UNKNOWN}}))) == []
