"""A Pulumi policy pack: rules over planned resources."""
