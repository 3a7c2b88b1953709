"""What is looked at before a call is judged, and what that comes to. Without a host, and with stand-ins for its seams."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import plan_mode
from plan_mode import facts
from plan_mode.facts import Ground, gather, protector_of
from plan_mode.host import capabilities
from plan_mode.host.workspace import works_remotely
from plan_mode.modes.builtin import PLAN, READ_ONLY
from plan_mode.modes.model import Grants, Mode
from plan_mode.policy.containment import MOST_BYTES, Inside, Outside
from plan_mode.policy.decide import MOST_INNER_CALLS, Facts, Fallback, InnerCall, Target, Verdict, decide
from plan_mode.policy.targets import MOST_TARGETS, Unreadable


@pytest.fixture(autouse=True)
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERMINAL_ENV", raising=False)
    monkeypatch.setattr(facts.skills, "inline_shell", lambda: False)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path.resolve()
    (base / "w" / ".hermes" / "plans").mkdir(parents=True)
    (base / "home" / ".hermes").mkdir(parents=True)
    return base


@pytest.fixture
def ground(base: Path) -> Ground:
    return Ground(
        mode=PLAN, fallback=None, plan_root=str(base / "w" / ".hermes" / "plans"), remote_files=bool, extra_tools=frozenset,
        home=str(base / "home" / ".hermes"), others_plan=lambda real: real.endswith("/theirs.md"))


def verdict(ground: Ground, tool: str, arguments: object) -> Verdict:
    return decide(ground.mode, tool, gather(ground, tool, arguments))


# -- targets

def test_what_is_known_of_a_plan_write(ground: Ground) -> None:
    path = f"{ground.plan_root}/a.md"
    assert gather(ground, "write_file", {"path": path, "content": "x"}) == Facts(
        targets=(Target(path, Inside(path, False)),), plan_root=ground.plan_root)


def test_what_is_known_of_a_patch(ground: Ground) -> None:
    mine, theirs = f"{ground.plan_root}/a.md", f"{ground.plan_root}/theirs.md"
    found = gather(ground, "patch", {"mode": "patch", "patch": f"*** Move File: {mine} -> {theirs}\n*** Add File: x.md"})
    assert found.targets == (
        Target(mine, Inside(mine, False)),
        Target(theirs, Inside(theirs, False), others_plan=True),
        Target("x.md", Outside("not-absolute", "'x.md' isn't an absolute path")),
    )


@pytest.mark.parametrize(("path", "rule"), [
    ("R/a.md", "plan-file"),
    ("R/sub/a.md", "plan-file"),
    ("R/theirs.md", "others-plan"),
    ("R/a.py", "not-markdown"),
    ("B/w/a.md", "outside-plans"),
    ("B/w/README.md", "outside-plans"),
    ("B/w/.git/hooks/pre-commit", "protected"),
    ("B/w/.hermes/modes/a.md", "protected"),
    ("B/w/.hermes/rules-plan/a.md", "protected"),
    ("B/w/.roomodes", "protected"),
    ("B/home/.hermes/config.yaml", "protected"),
    ("B/home/.hermes/plugin-data/x/y", "protected"),
    ("P/policy/decide.py", "protected"),
    ("R/../../.git/hooks/pre-commit", "protected"),
    ("R/../x.md", "dot-dot"),
    ("", "no-path"),
    ("R/a\n.md", "unshowable-path"),
])
def test_a_write(base: Path, ground: Ground, path: str, rule: str) -> None:
    plugin = os.path.dirname(os.path.abspath(plan_mode.__file__))
    places = {"R": ground.plan_root, "B": str(base), "P": plugin}
    named = places[path[0]] + path[1:] if path else ""
    found = verdict(ground, "write_file", {"path": named})
    assert found.rule == rule
    assert found.allowed is (rule == "plan-file")


def test_a_protected_place_reached_through_a_link_is_named(base: Path, ground: Ground) -> None:
    (base / "w" / "innocent").symlink_to(base / "home" / ".hermes" / "skills")
    found = verdict(ground, "write_file", {"path": str(base / "w" / "innocent" / "SKILL.md")})
    assert found.reason == (f"'{base}/w/innocent/SKILL.md' lies in {base}/home/.hermes/skills, "
                            "which no restricted mode may write")


def test_a_plan_directory_inside_a_protected_place_takes_no_plans(base: Path, ground: Ground) -> None:
    root = base / "home" / ".hermes" / "skills" / "mine" / ".hermes" / "plans"
    root.mkdir(parents=True)
    assert verdict(replace(ground, plan_root=str(root)), "write_file", {"path": f"{root}/a.md"}).rule == "protected"
    assert protector_of(f"{root}/a.md", ground.home, str(root)) == str(base / "home" / ".hermes" / "skills")


def test_a_plan_directory_that_was_replaced(base: Path, ground: Ground) -> None:
    os.rmdir(ground.plan_root)
    os.symlink(base / "w", ground.plan_root)
    assert verdict(ground, "write_file", {"path": f"{ground.plan_root}/a.md"}) == Verdict(
        "deny", "plan-directory", f"{ground.plan_root} is a symbolic link",
        f"Write Markdown files in this session's plan directory: {ground.plan_root}")


def test_without_a_plan_directory(ground: Ground) -> None:
    assert verdict(replace(ground, plan_root=""), "write_file", {"path": "/w/.hermes/plans/a.md"}) == Verdict(
        "deny", "no-plan-directory", "this session has no plan directory",
        "Put it in the plan; the person approves with /planmode approve or leaves with /planmode off.")


class Arguments(dict[str, object]):
    """Shows one path to ``get``, another to whoever takes it by key."""

    def get(self, key: str, default: object = None) -> object:
        return self["plan"] if key == "path" else super().get(key, default)


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("arguments", [
    None, "", "R/a.md", b"", 7, [], ["R/a.md"], [("path", "R/a.md")], object(),
    {}, {"path": None}, {"path": ""}, {"path": 7}, {"path": b"R/a.md"}, {"path": ["R/a.md"]}, {"path": {"path": "R/a.md"}},
    {"Path": "R/a.md"}, {"file_path": "R/a.md"},
    {"path": Text("R/a.md")},
    MappingProxyType({"path": "R/a.md"}),
    Arguments(path="/etc/x", plan="R/a.md"),
])
def test_arguments_that_name_no_file(ground: Ground, arguments: object) -> None:
    found = verdict(ground, "write_file", arguments)
    assert (found.rule, found.reason) == ("no-path", "the call names no file as text")


def test_what_is_not_text_is_shown_by_its_kind(ground: Ground) -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert [gather(ground, "write_file", {"path": path}).targets[0].shown  # type: ignore[union-attr]
            for path in (None, 7, b"x", deep, Hostile())] == ["<NoneType>", "<int>", "<bytes>", "<list>", "<Hostile>"]


# -- the host's answers

@pytest.mark.parametrize(("tool", "toolset", "rule"), [
    ("read_file", "file", "granted"),
    ("read_file", None, "granted"),
    ("read_file", "evil", "foreign-tool"),
    ("read_file", "", "foreign-tool"),
    ("write_file", "evil", "foreign-tool"),
    ("todo", "todo", "always-available"),
    ("todo", "evil", "foreign-tool"),
    ("read_terminal", "terminal", "granted"),
    ("read_terminal", "desktop_ui", "granted"),
    ("read_terminal", "file", "foreign-tool"),
    ("tool_call", "evil", "foreign-tool"),
    ("terminal", "evil", "not-granted"),
    ("my_tool", "evil", "unknown-tool"),
])
def test_whose_tool_it_is(ground: Ground, monkeypatch: pytest.MonkeyPatch, tool: str, toolset: str | None, rule: str) -> None:
    monkeypatch.setattr(facts.registry, "toolset_of", lambda name: toolset if name == tool else None)
    assert verdict(ground, tool, {"path": f"{ground.plan_root}/a.md"}).rule == rule


@pytest.mark.parametrize(("environment", "config", "recorded", "rule"), [
    (None, {}, False, "plan-file"),
    (None, None, False, "plan-file"),
    ("local", {"terminal": {"backend": "docker"}}, False, "plan-file"),
    (None, {"terminal": {"backend": "local"}}, False, "plan-file"),
    (None, {"terminal": {"backend": "docker"}}, False, "remote-files"),
    ("ssh", {}, False, "remote-files"),
    (None, {}, True, "remote-files"),
])
def test_where_the_files_are(ground: Ground, monkeypatch: pytest.MonkeyPatch, environment: str | None, config: Any,
                             recorded: bool, rule: str) -> None:
    monkeypatch.setattr(capabilities, "read_config", lambda: config)
    if environment is not None:
        monkeypatch.setenv("TERMINAL_ENV", environment)
    here = replace(ground, remote_files=lambda: recorded or works_remotely(capabilities.file_backend))
    assert verdict(here, "write_file", {"path": f"{ground.plan_root}/a.md"}).rule == rule
    assert verdict(here, "read_file", {"path": "/x"}).rule == "granted"


@pytest.mark.parametrize(("tool", "arguments", "rule"), [
    ("search_files", {"pattern": "x", "path": "."}, "granted"),
    ("search_files", {"pattern": "--pre=x", "path": "."}, "option-argument"),
    ("search_files", [], "option-argument"),
    ("read_file", {"path": "/x"}, "granted"),
    ("read_file", {"path": "-x"}, "option-argument"),
    ("web_search", {"query": "--pre"}, "granted"),
    ("tool_call", {"calls": [{"name": "search_files", "arguments": {"pattern": "--pre=x"}}]}, "option-argument"),
    ("tool_call", {"name": "search_files", "arguments": '{"pattern": "--pre=x"}'}, "option-argument"),
])
def test_whether_reading_could_run_something(ground: Ground, tool: str, arguments: object, rule: str) -> None:
    assert verdict(ground, tool, arguments).rule == rule


@pytest.mark.parametrize(("inline_shell", "rule"), [(False, "granted"), (True, "inline-shell")])
def test_whether_a_skill_may_run(ground: Ground, monkeypatch: pytest.MonkeyPatch, inline_shell: bool, rule: str) -> None:
    monkeypatch.setattr(facts.skills, "inline_shell", lambda: inline_shell)
    assert verdict(ground, "skill_view", {"name": "x"}).rule == rule
    wrapped = verdict(ground, "tool_call", {"calls": [{"name": "skill_view"}]})
    assert wrapped.rule == ("always-available" if rule == "granted" else rule)


@pytest.mark.parametrize(("given", "owners", "foreign"), [
    ("todo", {"todo": "todo"}, False),
    ("todo", {"todo_list": "todo"}, False),
    ("todo", {}, False),
    ("todo", {"todo": "evil", "todo_list": "todo"}, True),
    # The host completes the older name, and runs what is registered under the newer one.
    ("todo", {"todo_list": "evil"}, True),
    ("todo_list", {"todo": "evil"}, False),
])
def test_whose_tool_an_older_name_leads_to(ground: Ground, monkeypatch: pytest.MonkeyPatch, given: str, owners: dict[str, str],
                                           foreign: bool) -> None:
    monkeypatch.setattr(facts.registry, "toolset_of", owners.get)
    assert gather(ground, given, {}).foreign is foreign


def test_nothing_is_asked_for_a_tool_that_only_reads(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("asked")

    for module, name in ((facts.skills, "inline_shell"), (facts.plans, "directory_fault")):
        monkeypatch.setattr(module, name, never)
    asking = replace(ground, remote_files=never, extra_tools=never)
    assert verdict(asking, "read_file", {"path": "/x" * 100_000}).rule == "granted"
    assert verdict(ground, "terminal", {"command": "ls"}).rule == "not-granted"


def test_the_fallback_is_told(ground: Ground) -> None:
    damaged = Fallback("state-damaged", "its state file is damaged")
    found = verdict(replace(ground, mode=READ_ONLY, fallback=damaged), "write_file", {"path": f"{ground.plan_root}/a.md"})
    assert (found.effect, found.rule) == ("deny", "state-damaged")


def test_what_the_operator_added(ground: Ground) -> None:
    more = replace(ground, extra_tools=lambda: frozenset({"terminal", "my_tool", "write_file", "tool_call"}))
    assert verdict(more, "terminal", {"command": "ls"}).rule == "extra-tool"
    assert verdict(more, "my_tool", None).rule == "extra-tool"
    assert verdict(more, "write_file", {"path": "/x.md"}).rule == "outside-plans"
    assert verdict(more, "tool_call", {"calls": [{"name": "my_tool"}]}).rule == "always-available"
    assert verdict(more, "tool_call", {"calls": [{"name": "your_tool"}]}).rule == "unknown-tool"


# -- calls inside a call

def calls(*inner: object) -> dict[str, object]:
    return {"calls": list(inner)}


READ = {"name": "read_file", "arguments": {"path": "/x"}}
RUN = {"name": "terminal", "arguments": {"command": "ls"}}


def test_what_is_known_of_an_inner_call(ground: Ground) -> None:
    path = f"{ground.plan_root}/a.md"
    found = gather(ground, "tool_call", calls({"name": "write_file", "arguments": {"path": path}}, {"name": "todo"}))
    assert found.inner == (
        InnerCall("write_file", Facts(targets=(Target(path, Inside(path, False)),), plan_root=ground.plan_root)),
        InnerCall("todo", Facts(plan_root=ground.plan_root)),
    )


@pytest.mark.parametrize(("arguments", "rule"), [
    (calls(READ), "always-available"),
    (calls(READ, READ), "always-available"),
    (calls(*[READ] * MOST_INNER_CALLS), "always-available"),
    (READ, "always-available"),
    ({"calls": None, **READ}, "always-available"),
    (calls(RUN), "not-granted"),
    (calls(READ, RUN), "not-granted"),
    (RUN, "not-granted"),
    # One host reads the list, another the single call: both are judged.
    ({**calls(READ), **RUN}, "not-granted"),
    ({**calls(RUN), **READ}, "not-granted"),
    ({**calls(READ), **READ}, "always-available"),
    ({**calls(READ), "name": ""}, "always-available"),
    ({**calls(READ), "name": None}, "always-available"),
    ({**calls(READ), "name": ["terminal"]}, "unreadable-calls"),
    ({"calls": [], **READ}, "always-available"),
    (calls({"name": "mcp_fs_write", "arguments": {}}), "unknown-tool"),
    (calls({"name": "write_file"}), "no-path"),
    (calls({"name": "write_file", "arguments": '{"path": "a.md"}'}), "not-absolute"),
    (calls({"name": "write_file", "arguments": '["/x.md"]'}), "no-path"),
    (calls({"name": "write_file", "arguments": "{"}), "unreadable-calls"),
    (calls({"name": "read_file", "arguments": "[" * 100_000}), "unreadable-calls"),
    (calls({"name": "write_file", "arguments": {"path": "R/a.md"}}), "plan-file"),
    (calls({"name": "write_file", "arguments": {"path": "/x.md"}}), "outside-plans"),
    (calls({"name": "patch", "arguments": {"mode": "patch", "patch": "*** Add File: /x.md"}}), "outside-plans"),
    (calls({"name": " read_file"}), "unknown-tool"),
    (calls({"name": "tool_call", "arguments": calls(READ)}), "unreadable-calls"),
    (calls(), "unreadable-calls"),
    ({}, "unreadable-calls"),
    (None, "unreadable-calls"),
    ([READ], "unreadable-calls"),
    ({"calls": "[]"}, "unreadable-calls"),
    ({"calls": READ}, "unreadable-calls"),
    ({"calls": (READ,)}, "unreadable-calls"),
    (calls(*[READ] * (MOST_INNER_CALLS + 1)), "unreadable-calls"),
    (calls(READ, "terminal"), "unreadable-calls"),
    (calls({"name": ""}), "unreadable-calls"),
    (calls({"name": None}), "unreadable-calls"),
    (calls({"name": ["read_file"]}), "unreadable-calls"),
    (calls({"name": Text("read_file")}), "unreadable-calls"),
    (calls({"tool": "read_file"}), "unreadable-calls"),
    (calls(MappingProxyType(READ)), "unreadable-calls"),
])
def test_calls_inside_a_call(ground: Ground, arguments: Any, rule: str) -> None:
    if isinstance(arguments, dict) and rule == "plan-file":
        arguments["calls"][0]["arguments"]["path"] = f"{ground.plan_root}/a.md"
        rule = "always-available"
    found = verdict(ground, "tool_call", arguments)
    assert found.rule == rule
    assert found.allowed is (rule == "always-available")


@pytest.mark.parametrize(("arguments", "reason"), [
    ({"calls": "x"}, "it must hold a list of 1 to 64 calls"),
    (calls({"name": 7}), "one of them names no tool"),
    (calls({"name": "tool_call"}), "one of them is tool_call itself"),
])
def test_why_inner_calls_cannot_be_read(ground: Ground, arguments: object, reason: str) -> None:
    assert gather(ground, "tool_call", arguments).inner == Unreadable(reason)


# -- time

def shapes(root: str, alias: str) -> Iterator[tuple[str, str, dict[str, object]]]:
    """A name, a tool, and arguments of about a megabyte that cost much to look at."""
    def patch(text: str) -> dict[str, object]:
        return {"mode": "patch", "patch": text}

    deep = "/x" * 45
    longest = ("/" + "x" * 200) * (MOST_BYTES // 202)
    yield "one long path", "write_file", {"path": "/x" * 500_000}
    yield "one long name", "write_file", {"path": root + "/" + "x" * 1_000_000}
    yield "slashes", "write_file", {"path": "/" * 1_000_000}
    yield "dots", "write_file", {"path": root + "/." * 500_000}
    yield "ways up", "write_file", {"path": root + "/.." * 300_000}
    yield "a long path in a header", "patch", patch("*** Add File: " + "/x" * 500_000)
    yield "many headers", "patch", patch("*** Add File: /a\n" * 60_000)
    yield "many files", "patch", patch("".join(f"*** Add File: /{i}\n" for i in range(60_000)))
    for name, path in (("deep", deep), ("long", longest)):
        for place in (root, alias, "/elsewhere", root + "/../plans"):
            headers = "".join(f"*** Add File: {place}{path}/{i}.md\n" for i in range(MOST_TARGETS))
            yield f"{name} in {os.path.basename(place)}", "patch", patch(headers + "+x\n" * 250_000)
    yield "a wrapper", "tool_call", calls(*[{"name": "patch", "arguments": patch("***" + " " * 15_000)}] * MOST_INNER_CALLS)
    yield "no header", "patch", patch("*** \t" * 200_000)
    yield "a deep list", "write_file", {"path": [[[[]]]] * 250_000}


def test_arguments_of_any_size_and_shape_are_judged_in_bounded_time(base: Path, ground: Ground) -> None:
    """The goal of 100 ms is measured on a quiet machine; ten times of it tells what is bounded from what isn't."""
    (base / "alias").symlink_to(base / "w")
    slow = {}
    for name, tool, arguments in shapes(ground.plan_root, str(base / "alias" / ".hermes" / "plans")):
        taken = []
        for _ in range(2):
            started = time.perf_counter()
            found = verdict(ground, tool, arguments)
            taken.append(time.perf_counter() - started)
        assert not found.allowed or name.startswith(("deep in plans", "long in plans"))
        if min(taken) > 1:
            slow[name] = taken
    assert not slow


@pytest.mark.parametrize("failure", [OSError("gone meanwhile"), RecursionError()])
def test_a_path_that_cannot_be_followed_is_no_failure(
        ground: Ground, monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    protector_of("/x", ground.home, ground.plan_root)

    def realpath(path: str) -> str:
        if path == ground.plan_root:
            return path
        raise failure

    monkeypatch.setattr(os.path, "realpath", realpath)
    monkeypatch.setattr(os.path, "islink", lambda path: True)
    assert verdict(ground, "write_file", {"path": "/x/a.md"}).rule == "unreadable-path"


@pytest.mark.parametrize(("files", "rule"), [
    (("a.md", "b.md"), "granted"),
    (("a.md", "a.md"), "granted"),
    (("own/x.md", "own"), "unreadable-targets"),
    (("own", "own/deep/x.md"), "unreadable-targets"),
    (("own.md", "own/x.md"), "granted"),
    (("link.md", "b.md"), "unreadable-targets"),
    (("b.md", "link.md"), "unreadable-targets"),
    (("link.md",), "granted"),
    (("folder",), "not-a-file"),
    (("blank",), "unshowable-path"),
])
def test_what_one_file_of_a_patch_does_to_another(files: tuple[str, ...], rule: str, ground: Ground, tmp_path: Path) -> None:
    here = tmp_path.resolve() / "files"
    (here / "folder").mkdir(parents=True)
    (here / "link.md").symlink_to("a.md")
    (here / "blank").symlink_to("x ")
    patch = "\n".join(["*** Begin Patch", *(f"*** Add File: {here / name}\n+x" for name in files), "*** End Patch"])
    mode = Mode("custom", "Custom", "x", Grants(frozenset({"edit"})))
    found = verdict(replace(ground, mode=mode), "patch", {"mode": "patch", "patch": patch})
    assert found.rule == rule
