"""The stand-in for the host, for every test of this folder."""

from tests.fixtures import cli, machine

__all__ = ["cli", "machine"]
