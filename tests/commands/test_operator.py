"""``hermes plan-mode``: the way out that always works."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from typing import Any

import pytest

from plan_mode import cli as operator
from plan_mode.state.record import new_id
from tests.fake_host import Cli, Machine


@pytest.fixture
def record(cli: Cli) -> str:
    cli.type("/planmode on")
    cli.turn()
    found = re.search(r"^Record: (\w{16})$", cli.type("/planmode status"), re.M)
    assert found
    return found[1]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is printed on the operator's terminal."""
    with suppress(SystemExit):
        operator.main(list(arguments))
    return "".join(capsys.readouterr())


def test_off(cli: Cli, record: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "off", record) == (
        "Plan mode is off in that session; nothing was approved. Its agent is told in its next turn.\n")
    assert not cli.restricted
    assert "No mode is active any more; the plan was not approved." in cli.turn()
    assert run(capsys, "off", record) == f"There is no session with the record {record}. See hermes plan-mode list.\n"
    assert not cli.machine.files()


def test_off_before_its_agent_was_told(cli: Cli, record: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "off", record)
    assert run(capsys, "off", record) == f"The session of {record} is in no mode.\n"


def test_off_for_a_session_that_is_locked_to_its_owner(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.set(owner_only=True)
    server = machine.server()
    server.chat("k", "A", "alice").type("/planmode on")
    bob = server.chat("k", "A", "bob")
    found = re.search(r"hermes plan-mode off (\w+)", bob.type("/planmode off"))
    assert found
    run(capsys, "off", found[1])
    assert not bob.restricted


def test_off_for_a_record_that_cant_be_read(cli: Cli, record: str, capsys: pytest.CaptureFixture[str]) -> None:
    [path] = cli.machine.files("*.json")
    path.write_text("damaged")
    assert cli.restricted
    assert run(capsys, "list") == f"{path}: this session's state file {path} is damaged\n"
    assert run(capsys, "off", record) == f"Removed: the record {record} couldn't be read. Its session is in no mode any more.\n"
    assert not cli.restricted


def test_list(cli: Cli, record: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((), ("list",)):
        [line] = run(capsys, *arguments).splitlines()
        assert re.fullmatch(rf"{record}  plan  since \d{{4}}-\d\d-\d\d \d\d:\d\d  {re.escape(str(cli.machine.plans))}", line)


def test_nothing_to_list(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "list") == "No session is in a mode.\n"
    assert not machine.state.exists()


@pytest.mark.parametrize("typed", ["", "x", "../../etc", "0" * 15, "0" * 17, "\x1b[31m"])
def test_what_is_no_id(machine: Machine, capsys: pytest.CaptureFixture[str], typed: str) -> None:
    assert run(capsys, "off", typed).endswith(" isn't the id of a record. See hermes plan-mode list.\n")


def test_an_unknown_id(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    identity = new_id()
    assert run(capsys, "off", identity) == f"There is no session with the record {identity}. See hermes plan-mode list.\n"


def test_as_hermes_calls_it(cli: Cli, record: str, capsys: pytest.CaptureFixture[str]) -> None:
    add_arguments, handler = cli.context.operator
    parser: Any = argparse.ArgumentParser()
    add_arguments(parser)
    parser.set_defaults(func=handler)
    arguments = parser.parse_args(["off", record])
    assert arguments.func(arguments) == 0
    assert capsys.readouterr().out.startswith("Plan mode is off")
    assert not cli.restricted


@pytest.mark.parametrize(("arguments", "code"), [(("list",), 0), (("off", "x"), 1), (("off",), 2), (("on",), 2)])
def test_exit_codes(machine: Machine, arguments: tuple[str, ...], code: int) -> None:
    try:
        found = operator.main(list(arguments))
    except SystemExit as end:
        found = int(end.code or 0)
    assert found == code
