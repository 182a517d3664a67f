"""Tests of the policy pack."""
