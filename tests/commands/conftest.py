"""The stand-in for the host, for every test of this folder."""

from tests.fixtures import cli, impatient, lockless, machine

__all__ = ["cli", "impatient", "lockless", "machine"]
