"""``hermes`` starts one classic CLI; ``cli`` is one without further ado."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.kit import Hermes, registered_tools


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Hermes]]:
    """Start a classic CLI; see Hermes for what it takes."""
    started: list[Hermes] = []

    def start(**options: Any) -> Hermes:
        started.append(Hermes(tmp_path / f"machine{len(started)}", monkeypatch, **options))
        return started[-1]

    with registered_tools():
        yield start
        for each in started:
            each.unload()


@pytest.fixture
def cli(hermes: Callable[..., Hermes]) -> Hermes:
    return hermes()
