"""Fixtures of the acceptance tests: every test that asks for ``host`` runs on each of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from tests.acceptance.lab import HOSTS, Host, Lab, find_host

pytest.register_assert_rewrite("tests.acceptance.modes")

_failed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_failed] = True
    return report


@pytest.fixture(params=HOSTS, scope="session")
def host(request: pytest.FixtureRequest) -> Host:
    """One of the supported Hermes versions; a missing one is an error, not a skip."""
    return find_host(request.param)


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A bench for one test; the model must not have been asked anything unscripted."""
    with Lab() as bench:
        yield bench
        bench.failed = request.node.stash.get(_failed, False)
        unscripted = [r.user_text[:200] for r in bench.model.aux()]
        assert bench.expects_aux or not unscripted, f"requests that belong to no script: {unscripted}"
