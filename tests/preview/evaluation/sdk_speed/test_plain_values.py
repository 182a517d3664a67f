"""Plain values are serialized as the SDK does."""

import asyncio
from typing import Any

import pulumi
import pytest
from pulumi.runtime import rpc as sdk_rpc
from winkube.preview.evaluation.sdk_speed.plain_values import serializer


@pytest.mark.parametrize(
    "value", ["text", 1, 1.5, True, None, ["a", {"b": [1, None]}], {"a": {"b": True}}, pulumi.StringAsset("x")]
)
def test_a_value_is_serialized_as_the_sdk_does(value: Any) -> None:
    fast = asyncio.run(serializer(sdk_rpc.serialize_property)(value, [], "key"))
    assert fast == asyncio.run(sdk_rpc.serialize_property(value, [], "key"))
