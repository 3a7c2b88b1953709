"""Modes as files give them, on real folders: what an edit rule lets through, what a denial closes, and that nothing is left
behind by a switch."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from plan_mode import facts
from plan_mode.facts import Ground, gather
from plan_mode.host import registry
from plan_mode.modes.model import GROUPS, Mode
from plan_mode.modes.schema import modes_of
from plan_mode.policy.catalogue import ALIASES, ALWAYS, CATALOGUE, canonical
from plan_mode.policy.decide import Verdict, could_allow, decide
from plan_mode.policy.targets import rewritten
from tests.fake_host import Cli, Machine
from tests.fixtures import cli, machine

__all__ = ["cli", "machine"]


def mode_of(**fields: Any) -> Mode:
    """The mode that a file with these fields has."""
    found = modes_of([{"slug": "m", "name": "M", "roleDefinition": "r", **fields}], file="f", origin="o")
    assert not found.faults
    return found.modes[0]


def ground_of(mode: Mode, project: Path | str = "", home: Path | str = "/nowhere") -> Ground:
    return Ground(mode=mode, fallback=None, plan_root="", remote_files=bool, extra_tools=frozenset, home=str(home),
                  others_plan=bool, project=str(project))


def judged(ground: Ground, tool: str, arguments: Any) -> Verdict:
    return decide(ground.mode, tool, gather(ground, tool, arguments))


# -- files

@dataclass(frozen=True)
class Tree:
    base: Path

    @property
    def project(self) -> Path:
        return self.base / "p"

    def placed(self, path: str) -> str:
        """The path with real folders in place of its first letter: P the project, A a link to it, B what is around it."""
        places = {"P": self.project, "A": self.base / "alias", "B": self.base}
        return f"{places[path[0]]}{path[1:]}" if path[:2] in {"P", "A", "B", "P/", "A/", "B/"} else path

    def may_be_written(self, path: str, rule: re.Pattern[str]) -> bool:
        """Whether a rule lets this file be written, found out without anything of the plugin's."""
        if not os.path.isabs(path) or ".." in path.split("/") or re.search(r"[\x00-\x1f\u202e]", path):
            return False
        real = os.path.realpath(path)
        named = re.sub(r"/+(\./+)*", "/", path)
        for root in (str(self.project), str(self.base / "alias")):
            if named.startswith(root + "/") and real.startswith(f"{self.project}/"):
                names = [named[len(root) + 1:], os.path.relpath(real, self.project)]
                break
        else:
            return False
        try:
            entry = os.lstat(real)
            plain = stat.S_ISREG(entry.st_mode) and entry.st_nlink == 1
        except OSError as exc:
            plain = exc.errno == errno.ENOENT
        protected = names[1].split("/")[0] in (".git", ".roomodes")
        return plain and not protected and all(rule.search(name.removesuffix("/.").rstrip("/")) for name in names)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A project with links of every kind, and something around it. Nothing is written to it."""
    tree = Tree(tmp_path_factory.mktemp("tree").resolve())
    project = tree.project
    for folder in ("docs/deep", "Docs", "src", "tests", ".git/hooks", ".hidden", "../outside"):
        (project / folder).mkdir(parents=True)
    for name in ("docs/a.md", "docs/A.MD", "docs/a b.md", "docs/\u00fc.md", "src/a.py", "a.md", ".roomodes", "../outside/a.md"):
        (project / name).write_text("x")
    for link, target in {
        "docs/link": "../src", "docs/linked.md": "../src/a.py", "docs/new.md": "../src/new.py", "docs/out": "../../outside",
        "docs/out.md": "../../outside/new.md", "docs/modes": "../.roomodes", "src/docs": "../docs", "self": ".", "loop": "loop",
        "tests/up": "..", "../alias": "p",
    }.items():
        (project / link).symlink_to(target)
    os.link(project / "src" / "a.py", project / "docs" / "twin.md")
    os.mkfifo(project / "docs" / "pipe.md")
    return tree


# Patterns that JavaScript and Python understand alike, but for what ends a text.
RULES = st.sampled_from([
    r"\.md$", r"^docs/", r"^docs/.*\.md$", r"^(docs|tests)/[^/]+$", r"^(?!.*link).*\.(md|py)$", r"(^|/)a\.", r"^src/.+\.py$",
    r".*", r"^$", r"a b|\.roomodes", r"^self/|^docs/",
])
FOLDERS = st.sampled_from([
    "docs", "docs", "src", "tests", "Docs", "deep", "link", "self", "out", "up", "loop", ".hidden", ".git", "hooks", ".", "",
    "..", "~"])
FILES = st.sampled_from([
    "a.md", "b.md", "A.MD", "a.py", "new.py", "linked.md", "new.md", "out.md", "twin.md", "pipe.md", "a b.md", "\u00fc.md",
    "a\\b.md", ".roomodes", "modes", "a\n.md", "a\u202e.md", "-a.md", "docs", ""])
STARTS = st.sampled_from([*["P"] * 6, *["P/docs"] * 4, "A", "A/docs", "B", "B/outside", "/", "//", "", ".", "..", "docs"])
PATHS = st.builds(lambda start, folders, file: "/".join([start, *folders, file]), STARTS, st.lists(FOLDERS, max_size=2), FILES)
HEADERS = st.sampled_from(["*** Update File: {}", "*** Add File: {}", "***Delete File:{}", "*** Move to: {}"])


def call(draw: st.DrawFn, paths: list[str]) -> tuple[str, dict[str, Any], list[str]]:
    """A call that would write these files, and the files as a patch names them: its headers end with their line."""
    if len(paths) == 1 and draw(st.booleans()):
        return "write_file", {"path": paths[0], "content": draw(st.sampled_from(["", "x"]))}, paths
    if len(paths) == 1 and draw(st.booleans()):
        return "patch", {"path": paths[0], "old_string": "", "new_string": ""}, paths
    paths = [path.split("\n")[0].strip() for path in paths]
    moved = [f"*** Move File: {paths[0]} -> {paths[1]}"] if len(paths) > 1 and draw(st.booleans()) else []
    lines = moved + [draw(HEADERS).format(path) for path in paths[2 * len(moved):]]
    return "patch", {"mode": "patch", "patch": "*** Begin Patch\n" + "\n+x\n".join(lines) + "\n*** End Patch"}, paths


CALLS = st.composite(call)


def entangled(paths: list[str]) -> bool:
    """Whether what a patch does to one of its files may decide where another lies."""
    reals = [Path(os.path.realpath(path)) for path in paths]
    return len(paths) > 1 and (any(map(os.path.islink, paths)) or any(one in two.parents for one in reals for two in reals))


@settings(max_examples=400, deadline=None)
@given(data=st.data(), source=RULES, groups=st.frozensets(st.sampled_from(sorted(GROUPS - {"edit"})), max_size=3),
       paths=st.lists(PATHS, min_size=1, max_size=2), completed=st.booleans())
def test_an_edit_is_allowed_where_the_rule_holds_and_nowhere_else(
    tree: Tree, data: st.DataObject, source: str, groups: frozenset[str], paths: list[str], completed: bool,
) -> None:
    mode = mode_of(groups=[*sorted(groups), ["edit", {"fileRegex": source}]])
    rule = re.compile(source.replace("$", r"\Z"))
    tool, arguments, named = data.draw(CALLS([tree.placed(path) for path in paths]))
    if completed:
        arguments = rewritten(tool, arguments, lambda path: os.path.join(tree.project, path))
        named = [os.path.join(tree.project, path) for path in named]
    verdict = judged(ground_of(mode, tree.project), tool, arguments)
    event(verdict.rule)
    if verdict.allowed:
        for path in named:
            real = os.path.realpath(path)
            assert real.startswith(f"{tree.project}/"), path
            assert rule.search(os.path.relpath(real, tree.project)), path
            assert tree.may_be_written(path, rule), path
    elif not any(path.startswith("//") for path in named) and not entangled(named):
        assert not all(tree.may_be_written(path, rule) for path in named), (named, verdict)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), paths=st.lists(PATHS, min_size=1, max_size=3))
def test_an_edit_without_a_rule_spares_what_is_protected(tree: Tree, data: st.DataObject, paths: list[str]) -> None:
    tool, arguments, named = data.draw(CALLS([tree.placed(path) for path in paths]))
    verdict = judged(ground_of(mode_of(groups=["edit"]), tree.project, tree.base / "outside"), tool, arguments)
    event(verdict.rule)
    if verdict.allowed:
        for path in named:
            assert os.path.isabs(path)
            assert ".." not in path.split("/")
            real = os.path.realpath(path)
            assert not re.match(rf"{re.escape(str(tree.project))}/(\.roomodes|\.git)(/|\Z)", real), path


# -- tools, by name and by server

SERVERS = ["fs", "git"]
OWNERS = st.sampled_from([None, None, "file", "evil", *(f"mcp-{server}" for server in SERVERS)])
TOOLS = st.one_of(st.sampled_from([*CATALOGUE, *ALIASES]), st.sampled_from(["mcp_fs_write", "write", "nobody_knows_it"]))
SAID = st.one_of(TOOLS, st.sampled_from([f"mcp:{server}" for server in SERVERS]))
FIELDS = st.fixed_dictionaries({
    "groups": st.lists(st.sampled_from(sorted(GROUPS)), unique=True),
    "tools": st.fixed_dictionaries({"allow": st.lists(SAID, max_size=3), "deny": st.lists(SAID, max_size=2)}),
})
ARGUMENTS: dict[str, Any] = {"path": "/nowhere/a.md", "content": "x", "calls": [{"name": "clarify", "arguments": {}}]}


class Owned:
    """While this lasts, the host's registry gives a tool to that owner, and skills run nothing."""

    def __init__(self, tool: str, owner: str | None) -> None:
        self.patch = pytest.MonkeyPatch()
        self.tool, self.owner = tool, owner

    def __enter__(self) -> None:
        self.patch.setattr(registry, "toolset_of", lambda name: self.owner if name == self.tool else None)
        self.patch.setattr(facts.skills, "inline_shell", lambda: False)

    def __exit__(self, *_: object) -> None:
        self.patch.undo()


@settings(max_examples=250, deadline=None)
@given(fields=FIELDS, tool=TOOLS, owner=OWNERS, more=SAID)
def test_a_tool_by_its_name_and_by_its_server(fields: dict[str, Any], tool: str, owner: str | None, more: str) -> None:
    mode = mode_of(**fields)
    stricter = replace(mode, grants=replace(mode.grants, deny=mode.grants.deny | {more}))
    with Owned(tool, owner):
        now, then = judged(ground_of(mode), tool, ARGUMENTS), judged(ground_of(stricter), tool, ARGUMENTS)
    event(f"{now.effect}, then {then.effect}")
    name = canonical(tool)
    known = name in CATALOGUE
    server = owner[4:] if owner and owner.startswith("mcp-") and not known else ""
    names = {name, f"mcp:{server}"} if server else {name}
    if now.allowed:
        assert could_allow(mode, tool, server)
    # A denial opens nothing, closes what it names, and nothing else; of tool_call it is the inner call that counts.
    if then.allowed:
        assert now.allowed
        assert more not in names
    elif now.allowed and mode.restricted:
        assert more in names or (name == "tool_call" and more == "clarify")
    # What allows a tool is its name, its server, or its group; somebody else's tool of a known name is none of ours.
    if now.allowed and mode.restricted:
        allowed = names & mode.grants.allow
        assert allowed or (CATALOGUE[name].group if known else "mcp" if server else "") in {*mode.grants.groups, ALWAYS}
        assert not names & mode.grants.deny
        assert not known or owner is None or owner in CATALOGUE[name].toolsets


# -- switching

OWN: dict[str, Any] = {"slug": "own", "name": "Own", "roleDefinition": "r",
                       "groups": ["read", ["edit", {"fileRegex": r"^docs/"}]]}
THEIRS: dict[str, Any] = {"slug": "theirs", "name": "Theirs", "roleDefinition": "r", "groups": ["read", "command", "mcp"],
                          "tools": {"deny": ["process_manage", "mcp:fs"]}}
MODES = ["code", "ask", "plan", "own", "theirs", "architect", "orchestrator", "debug", "off"]


class Table:
    """The verdicts on every tool of the catalogue and some more, in the sessions of one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self._fresh = machine, dict[str, list[str]]()

    def of(self, cli: Cli) -> list[str]:
        return list(self._verdicts(cli))

    def _verdicts(self, cli: Cli) -> Iterator[str]:
        with cli.acting():
            standing = cli.desk.judge.standing(cli.desk.where.place(cli.conversation))
            for tool in [*CATALOGUE, "nobody_knows_it", "mcp_fs_write", "mcp_git_log"]:
                for path in ("docs/a.md", "src/a.py", ".hermes/plans/2026-01-01_000000-a.md"):
                    if standing.mode is None:
                        yield "none"
                    elif path == "docs/a.md" or tool in ("write_file", "patch"):
                        arguments = {**ARGUMENTS, "path": str(self.machine.work / path)}
                        verdict = cli.desk.judge.verdict(standing, tool, arguments)[0]
                        yield f"{tool} {verdict.effect} {verdict.rule} {verdict.reason} {verdict.hint}"

    def of_a_fresh_session(self, slug: str) -> list[str]:
        if slug not in self._fresh:
            cli = self.machine.cli(f"fresh-{slug}")
            cli.type(f"/mode {slug}")
            cli.turn()
            self._fresh[slug] = self.of(cli)
            cli.type("/mode off")
            cli.turn()
        return self._fresh[slug]


@pytest.mark.parametrize("seed", [1, 2])
def test_after_fifty_switches_a_mode_is_what_it_is_in_a_fresh_session(
    seed: int, cli: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "toolset_of", {"mcp_fs_write": "mcp-fs", "mcp_git_log": "mcp-git"}.get)
    for path, modes in ((machine.home / "modes" / "a.yaml", [OWN]), (machine.work / ".roomodes", [THEIRS])):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"customModes": modes}))
    table = Table(machine)
    chance = random.Random(seed)
    now = "off"
    for _ in range(50):
        slug = chance.choice([each for each in MODES if each != now])
        if slug == "plan":
            cli.type("/planmode on")
        elif now == "plan" and slug != "off" and chance.random() < 0.5:
            cli.write_plan()
            assert f"now in {slug} mode" in cli.type(f"/planmode approve --mode {slug}")
        else:
            cli.type("/mode off" if slug == "off" else f"/mode {slug}")
        if chance.random() < 0.6:
            cli.turn()
        assert table.of(cli) == table.of_a_fresh_session(slug), (now, slug)
        now = slug
    cli.type("/mode code" if now != "code" else "/mode")
    assert table.of(cli) == table.of_a_fresh_session("code")
    assert len(list((machine.state / "pins").iterdir())) == 2  # one for each definition, however often it was chosen
    cli.type("/mode off")
    cli.turn()
    assert not machine.files("*.json")
