"""The stand-in for the host, and a person who answers what the agent asks."""

from __future__ import annotations

import pytest

from tests.fake_host import Cli, Machine
from tests.fixtures import Person, impatient, machine, person

__all__ = ["Person", "impatient", "machine", "person"]


@pytest.fixture
def cli(machine: Machine) -> Cli:
    """One classic CLI in a conversation "A", in which a switch takes no time."""
    machine.set(switch_pause_ms=0)
    return machine.cli()
