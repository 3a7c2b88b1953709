"""What a call may do in a mode, beside what Roo Code judged: as vectors, on real files, through what the host calls.

Each row says what Roo Code's check gave for its tool, and what the host's tool of the same purpose gets here. Where the two
differ, the row names the deviation.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plan_mode.facts import skills
from plan_mode.host import registry, workspace
from plan_mode.modes.builtin import BUILTIN
from plan_mode.policy.catalogue import EDITORS, canonical
from tests.fake_host import Cli, Machine
from tests.fixtures import cli, machine

__all__ = ["cli", "machine"]

FILE = Path(__file__).parents[1] / "conformance" / "permissions.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
ROWS = {row["case"]: row for row in VECTORS["rows"]}
MODES = {mode["slug"]: mode for mode in VECTORS["modes"]}

DEVIATIONS = {
    "empty content": "An edit is checked whatever its content is; Roo Code takes one without content for a call that is still "
                     "arriving, so that any file can be emptied.",
    "dots": "A path that holds .. is refused wherever it leads; Roo Code tests the text of the path.",
    "outside": "A mode that limits files limits them to the project; Roo Code tests the text of the path.",
    "links": "A file must match by its name and by where links lead, and have no second name (hard link); Roo Code never "
             "follows links.",
    "moves": "Both ends of a move must match, and so must a Move to line, which the host passes over; Roo Code looks at the "
             "file that is updated alone.",
    "indented headers": "A patch without a header that the host reads is refused; Roo Code's check passes an indented one over, "
                        "and its patcher carries it out.",
    "two names": "A call whose path and file_path name different files is refused; Roo Code checks path, whichever its tool "
                 "uses.",
    "file_path": "The host's tools take path; a call that has file_path alone names no file, and is refused.",
    "generated files": "Images and speech are a group of their own, media, and may not be given a file to write where the mode "
                       "limits files; in Roo Code they belong to edit and are written anywhere.",
    "mcp at the call": "An MCP tool is known by the server that the host's registry gives it, and judged when it is called; "
                       "Roo Code hides it from the model, and its check doesn't know the name that it is called by.",
    "protected": "What decides over the agent (mode files, rules, git's hooks, the Hermes home's settings) is never written in "
                 "a restricted mode; Roo Code asks the person.",
    "names of one file": "A path is judged by where it lies in the project, however it is written; Roo Code tests it as it is "
                         "written, and refuses ./docs/a.md and the absolute path where docs/a.md is allowed.",
    "empty pattern": "An empty fileRegex is a fault, and its mode can't be chosen; in Roo Code it matches every file.",
    "gone": "A session whose mode has gone can still read, and says so; in Roo Code only the tools that are always available "
            "stay.",
    "a person decides": "A switch that the agent asks for, and sub-agents in a mode that grants more, need your yes at each "
                        "time; Roo Code can be set to approve both by itself.",
    "delegation": "Sub-agents are a group of their own, delegate; in Roo Code every mode may begin a task in another mode.",
    "skills": "Reading a skill belongs to the group read; in Roo Code skills are always available.",
    "built-in modes without MCP": "architect and ask have no MCP tools but those that the setting mcp_allowed names; in Roo Code "
                                  "they have all.",
    "unrestricted modes": "code and debug deny nothing, tools that nobody knows included; Roo Code refuses unknown names in "
                          "every mode.",
}
"""Where we judge otherwise than Roo Code: its name, and the sentence about it in the docs."""

REGISTERED = {"mcp_x_y": "mcp-x", "mcp--x--y": "mcp-x"}


class Project:
    """A project of real files and links, and a session in one of the modes of its ``.roomodes``."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.root = machine, machine.work
        self.outside = machine.root / "outside"
        self.alias = machine.root / "alias"
        for folder in (".git/hooks", "docs/deep", "src"):
            (self.root / folder).mkdir(parents=True)
        self.outside.mkdir()
        for name in ("a.md", "a.js", "README.MD", "docs/a.md", "docs/a.py", "src/a.py", "../outside/a.md"):
            (self.root / name).write_text("a\n")
        for link, target in {"docs/link": "../src", "docs/linked.md": "../src/a.py", "docs/dangling.md": "../src/b.py",
                             "docs/away": "../../outside", "../alias": "work"}.items():
            (self.root / link).symlink_to(target)
        (self.root / "src" / "first.md").write_text("a\n")
        os.link(self.root / "src" / "first.md", self.root / "docs" / "twin.md")
        (self.root / ".roomodes").write_text(json.dumps({"customModes": list(MODES.values())}))

    def placed(self, value: Any) -> Any:
        """The value with the real folders in place of their names."""
        if isinstance(value, dict):
            return {key: self.placed(inner) for key, inner in value.items()}
        if not isinstance(value, str):
            return value
        return value.replace("{project}", str(self.root)).replace("{outside}", str(self.outside)).replace(
            "{alias}", str(self.alias))

    def files(self) -> dict[str, str]:
        """The text of every file there is, but for the plugin's own and what is written to no file of the project's."""
        found = {}
        for root in (self.root, self.outside):
            for folder, _, names in os.walk(root):
                found |= {os.path.join(folder, name): Path(folder, name).read_text() for name in names
                          if os.path.isfile(os.path.join(folder, name)) and not os.path.islink(os.path.join(folder, name))}
        return found

    def enter(self, slug: str) -> Cli:
        """A session in that mode; in ``gone`` of one whose definition isn't there any more, neither in its file nor kept."""
        cli = self.machine.cli()
        assert cli.type(f"/mode {slug}").startswith(f"{slug.capitalize()} mode is on.")
        cli.turn()
        if slug != "gone":
            return cli
        cli.exit()
        for pin in (self.machine.state / "pins").iterdir():
            pin.unlink()
        (self.root / ".roomodes").unlink()
        again = self.machine.cli()
        again.turn()
        return again


@pytest.fixture
def project(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(workspace, "task_folder", lambda task: str(machine.work))
    monkeypatch.setattr(registry, "toolset_of", REGISTERED.get)
    monkeypatch.setattr(skills, "inline_shell", lambda: False)
    return Project(machine)


class Call:
    """One call on its way through all that the host asks: the arguments it ends with, and what became of it."""

    def __init__(self, cli: Cli, tool: str, arguments: dict[str, Any]) -> None:
        self.ran: list[dict[str, Any]] = []
        with cli.acting():
            [rewrite] = cli.context.middleware["tool_request"]
            changed = rewrite(tool_name=tool, args=dict(arguments), session_id=cli.conversation, task_id="default")
        self.arguments = changed["args"] if changed else arguments
        self.denial = cli.asked(tool, self.arguments)
        with cli.acting():
            standing = cli.desk.judge.standing(cli.desk.where.place(cli.conversation))
            self.verdict = cli.desk.judge.verdict(standing, tool, self.arguments)[0]
            result = cli.context.middleware["tool_execution"][-1](
                tool_name=tool, args=dict(self.arguments), next_call=self._run, tool_call_id="c1", session_id=cli.conversation)
        self.refused = json.loads(result).get("error", "")

    def _run(self, final: dict[str, Any]) -> str:
        """The tool itself: a write_file really writes."""
        self.ran.append(final)
        if "content" in final:
            Path(final["path"]).write_text(final["content"])
        return json.dumps({"success": True, **({"resolved_path": os.path.realpath(final["path"])} if "path" in final else {})})


@pytest.mark.parametrize("case", [case for case, row in ROWS.items() if row["ours"]["verdict"] != "no mode"])
def test_judged(case: str, project: Project) -> None:
    row = ROWS[case]
    ours = row["ours"]
    cli = project.enter(row["mode"])
    before = project.files()
    call = Call(cli, ours["tool"], project.placed(ours["arguments"]))
    assert (call.verdict.effect, call.verdict.rule) == (ours["verdict"], ours["rule"])
    assert bool(call.denial) is (ours["verdict"] == "deny")
    if call.denial:
        assert f"[{ours['rule']}]" in call.denial
        assert (call.refused, call.ran) == (call.denial, [])
        assert project.files() == before
        return
    assert len(call.ran) == 1
    after = project.files()
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed == ({os.path.realpath(call.arguments["path"])} if "content" in call.arguments else set())
    assert not cli.desk.judge.standing(cli.desk.where.place(cli.conversation)).fallback or row["mode"] == "gone"


@pytest.mark.parametrize("case", [case for case, row in ROWS.items() if row["ours"]["verdict"] == "no mode"])
def test_a_mode_that_cant_be_chosen(case: str, project: Project) -> None:
    """Its fault is shown, and the session stays as it was: in the mode before."""
    row = ROWS[case]
    cli = project.enter("bare")
    assert f"mode {row['mode']}: groups[1][1].fileRegex" in cli.type("/mode reload")
    assert cli.type(f"/mode {row['mode']}").startswith(f"'{row['mode']}' isn't a mode.")
    call = Call(cli, row["ours"]["tool"], row["ours"]["arguments"])
    assert call.denial.startswith("bare mode [not-granted]")


def test_each_row_says_whether_it_deviates() -> None:
    for row in VECTORS["rows"]:
        assert row["roo"]["verdict"] in ("allow", "deny")
        assert row["mode"] in MODES or row["mode"] in BUILTIN
        assert ("deviation" in row) is (row["roo"]["verdict"] != row["ours"]["verdict"]), row["case"]
    assert {row["deviation"] for row in VECTORS["rows"] if "deviation" in row} == set(DEVIATIONS)
    assert len(ROWS) == len(VECTORS["rows"])


def test_the_holes_are_closed() -> None:
    """Only where it is written down is anything allowed that Roo Code refuses, and no edit is among it but by another name."""
    wider = {row["deviation"] for row in ROWS.values() if (row["roo"]["verdict"], row["ours"]["verdict"]) == ("deny", "allow")}
    assert wider == {"names of one file", "mcp at the call", "gone", "unrestricted modes"}
    edits = [row for row in ROWS.values() if canonical(row["ours"]["tool"]) in EDITORS and row.get("deviation") in wider]
    assert {row["deviation"] for row in edits} == {"names of one file"}


def test_what_has_no_counterpart_says_why() -> None:
    theirs = {row["roo"]["tool"] for row in ROWS.values()}
    for each in VECTORS["without_counterpart"]:
        assert each["tool"] not in theirs
        assert each["reason"].endswith(".")


# -- beside the table

@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("case", ["writing nothing empties a file", "out of the folder by a linked folder", "dots in a patch",
                                  "a patch that moves a file away", "an indented header", "two names of the file"])
def test_a_hole_is_closed_inside_of_a_wrapper_and_by_default(case: str, wrapped: bool, project: Project) -> None:
    """The same call inside of tool_call, and in a session that nobody chose a mode for."""
    row = ROWS[case]
    tool, arguments = row["ours"]["tool"], row["ours"]["arguments"]
    if wrapped:
        cli = project.enter(row["mode"])
        arguments = {"calls": [{"name": tool, "arguments": absolute(project, tool, arguments)}]}
        tool = "tool_call"
    else:
        (project.machine.home / "modes").mkdir()
        (project.root / ".roomodes").rename(project.machine.home / "modes" / "mine.json")
        project.machine.set(default_mode=row["mode"])
        cli = project.machine.cli()
        cli.turn()
    before = project.files()
    call = Call(cli, tool, arguments)
    assert f"[{row['ours']['rule']}]" in call.denial
    assert (call.ran, project.files()) == ([], before)


def absolute(project: Project, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Inside of a wrapper nobody completes a path."""
    if "patch" not in arguments:
        return {**arguments, "path": str(project.root / arguments["path"])}
    text = arguments["patch"]
    for name in ("docs/../src/a.py", "a.md", "b.js"):
        text = text.replace(f" {name}", f" {project.root}/{name}")
    return {**arguments, "patch": text}
