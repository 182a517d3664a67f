"""Tables with source and date: releases, AMI parameters, instance types, regions."""
