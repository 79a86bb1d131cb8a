"""Tests on a device; a package, so that its conftest has a name of its own."""
