"""What a tool call costs with plan-mode: `make bench`, or by the Python of a Hermes 0.22: bench/run.py [--quick] [--draw FOLDER].

Everything runs in this process: the plugin is loaded by the host's plugin manager in a disposable home, and keeps its
state in the host's own data folder. A row is the median of single calls, in microseconds and in multiples of one
``os.stat`` of the same run. The lower table puts a whole call through the agent loop's dispatch, beside a plugin that
registers the same hooks and middleware with empty bodies, call by call in turn. ``--draw`` measures, in homes of their own, how
that grows with the sessions that are active and with the size of the mode files, and draws it.

Prints rows over their goal with a mark, and always ends with 0: times depend on the machine.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module as host_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from drawing import Line, Panel, drawing, shown

ROOT = Path(__file__).resolve().parents[1]
PLAN_MODE = "plan-mode"
EMPTY = "empty-bodies"
CONVERSATION = "20260101_120000_aaaaaa"

#: Microseconds, by row.
GOALS = {"never used": 20.0, "others active (1)": 45.0, "others active (1,000)": 45.0, "active read": 75.0, "blocked": 90.0,
         "plan write": 250.0}
MOST_GROWTH = 1.5
MOST_SHARE = 1.10

OTHERS = (0, 1, 10, 100, 1_000, 4_000)
KILOBYTES = (0, 10, 100, 1_300)
ROUNDS = 15
PLAN_ROOT = "/nowhere/.hermes/plans"
PROSE = "      You do \u2014 what\u2019s needed: read \u201cit\u201d, think (and write), then look again; nothing else counts.\n"

EMPTY_MANIFEST = f"""\
name: {EMPTY}
version: 0.0.1
description: The hooks of plan-mode with nothing in them.
author: plan-mode
kind: standalone
"""

EMPTY_BODIES = '''
def hook(**_):
    return None


def middleware(args=None, next_call=None, **_):
    return next_call(args)


def register(ctx):
    for name in ("pre_tool_call", "pre_llm_call", "on_session_reset", "on_session_finalize"):
        ctx.register_hook(name, hook)
    ctx.register_middleware("tool_execution", middleware)
'''


@dataclass(frozen=True)
class Row:
    """Microseconds of one call, and of one ``os.stat`` that was made right after each of them."""

    name: str
    median: float
    stat: float


class Home:
    """One profile of the host with one plugin, loaded by its plugin manager; ``here`` makes it the current one."""

    def __init__(self, root: Path, plugin: str) -> None:
        self.path = root / plugin
        self._numbers = itertools.count(1)
        folder = self.path / "plugins" / plugin
        folder.mkdir(parents=True)
        if plugin == PLAN_MODE:
            for name in ("plugin.yaml", "__init__.py"):
                shutil.copy(ROOT / name, folder / name)
            shutil.copytree(ROOT / "plan_mode", folder / "plan_mode", ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (folder / "plugin.yaml").write_text(EMPTY_MANIFEST)
            (folder / "__init__.py").write_text(EMPTY_BODIES)
        config = {"plugins": {"enabled": [plugin], "auto_update_check_hours": 0}, "lsp": {"enabled": False}}
        (self.path / "config.yaml").write_text(json.dumps(config))
        with self.here():
            plugins = host_module("hermes_cli.plugins")
            self.manager: Any = plugins.get_plugin_manager()
            self.manager._cli_ref = SimpleNamespace(session_id=CONVERSATION)
            self.manager.discover_and_load()
        loaded = self.manager._plugins.get(plugin)
        if loaded is None or loaded.error:
            sys.exit(f"{plugin} did not load: {loaded.error if loaded else 'not discovered'}")

    @contextmanager
    def here(self) -> Any:
        constants = host_module("hermes_constants")
        token = constants.set_hermes_home_override(str(self.path))
        try:
            yield
        finally:
            constants.reset_hermes_home_override(token)

    def hook(self, name: str) -> Callable[..., Any]:
        return self.manager._hooks[name][0]  # type: ignore[no-any-return]

    def type(self, line: str) -> str:
        name, _, rest = line.removeprefix("/").partition(" ")
        return str(host_module("hermes_cli.plugins").get_plugin_command_handler(name)(rest))

    def part(self, name: str) -> Any:
        module = self.manager._plugins[PLAN_MODE].module.__name__
        return host_module(f"{module}.plan_mode.{name}")

    @property
    def desk(self) -> Any:
        return self.hook("pre_llm_call").__self__._desk  # type: ignore[attr-defined]

    def add_others(self, count: int) -> None:
        """Sessions of other processes, in plan mode."""
        here = self.part("state.process").current_process()
        for _ in range(count):
            self._plan(replace(here, pid=here.pid + next(self._numbers), start="1"))

    @contextmanager
    def planning(self) -> Any:
        """While this lasts, this process is in plan mode, without the looking around that a person's command does."""
        record = self._plan(self.part("state.process").current_process())
        yield
        with self.desk.store.writing() as writer:
            writer.drop_record(writer.folder, record.id)
            writer.drop_key(writer.folder, *record.keys)

    def _plan(self, process: Any) -> Any:
        record = self.part("state.record")
        with self.desk.store.writing(create=True) as writer:
            hashed = writer.folder.hashed(process.key)
            made = record.SessionRecord(id=record.new_id(), mode="plan", activation=record.new_id(), since=time.time(),
                                        plan_root=PLAN_ROOT, holder=process, keys=(hashed,))
            writer.put_record(writer.folder, made)
            writer.put_key(writer.folder, hashed, made.id)
        return made


def call(tool: str, **args: Any) -> dict[str, Any]:
    """What the host hands to ``pre_tool_call``."""
    return {"tool_name": tool, "args": args, "task_id": "default", "session_id": CONVERSATION, "tool_call_id": "c1",
            "turn_id": "t1", "api_request_id": "r1", "middleware_trace": [], "telemetry_schema_version": "1"}


def measured(name: str, run: Callable[[], Any], calls: int) -> Row:
    """Measure one row, once the files involved are old enough to be taken from the cache."""
    time.sleep(0.12)
    for _ in range(200):
        run()
    gc.collect()
    clock, stat, folder = time.perf_counter_ns, os.stat, os.environ["HERMES_HOME"]
    times, stats = [], []
    for _ in range(calls):
        began = clock()
        run()
        between = clock()
        stat(folder)
        stats.append(clock() - between)
        times.append(between - began)
    return Row(name, statistics.median(times) / 1000, statistics.median(stats) / 1000)


def checked(name: str, hook: Callable[..., Any], about: dict[str, Any], expected: str, calls: int) -> Row:
    """Measure a callback that answers as it must."""
    answer = hook(**about)
    outcome = "block" if answer and "action" in answer else "context" if answer else "none"
    if outcome != expected:
        sys.exit(f"{name}: expected {expected}, got {answer}")
    return measured(name, lambda: hook(**about), calls)


def callbacks(home: Home, calls: int) -> list[Row]:
    """The rows of the upper table. Leaves 1,000 other sessions, and this one in no mode."""
    rows = []

    def measure(name: str, hook: Callable[..., Any], about: dict[str, Any], expected: str) -> None:
        rows.append(checked(name, hook, about, expected, calls))

    gate, turn = home.hook("pre_tool_call"), home.hook("pre_llm_call")
    about_turn = {"session_id": CONVERSATION, "task_id": "default", "turn_id": "t1", "user_message": "go on",
                  "conversation_history": [{"role": "user", "content": "go on"}] * 20, "is_first_turn": False, "model": "m",
                  "platform": "cli", "parent_session_id": "", "sender_id": ""}
    measure("never used", gate, call("terminal", command="ls"), "none")
    measure("pre_llm_call, never used", turn, about_turn, "none")
    home.add_others(1)
    measure("others active (1)", gate, call("terminal", command="ls"), "none")
    home.add_others(999)
    measure("others active (1,000)", gate, call("terminal", command="ls"), "none")
    measure("pre_llm_call, others active (1,000)", turn, about_turn, "none")
    home.type("/planmode on")
    turn(**about_turn)
    plans = Path(os.environ["TERMINAL_CWD"]) / ".hermes" / "plans"
    measure("active read", gate, call("read_file", path=str(plans / "p.md")), "none")
    measure("blocked", gate, call("terminal", command="ls"), "block")
    measure("plan write", gate, call("write_file", path=str(plans / "p.md"), content="# Plan\n" + "a step\n" * 300), "none")
    home.type("/planmode off")
    turn(**about_turn)
    return rows


def whole_call(agent: Any) -> Callable[[], Any]:
    """One call from the agent loop's dispatch down to a tool that does nothing, so that nothing hides what hooks cost."""
    executor = host_module("agent.tool_executor")
    about = {"function_name": "read_file", "function_args": {"path": "README.md"}, "effective_task_id": "default",
             "tool_call_id": "c1", "execute": lambda args: "{}"}

    def run() -> None:
        if executor._run_agent_tool_execution_middleware(agent, **about).result != "{}":
            sys.exit("the call did not run")

    return run


def real_agent() -> Any:
    """An agent of the host, which never speaks to a model."""
    return host_module("run_agent").AIAgent(
        base_url="http://127.0.0.1:9/v1", api_key="none", model="m", quiet_mode=True, platform="cli", skip_memory=True,
        skip_context_files=True, session_id=CONVERSATION, enabled_toolsets=["file"])


def paired(ours: Home, theirs: Home, run: Callable[[], Any], calls: int) -> tuple[float, float]:
    """Medians, in microseconds, of the same call in two homes, which take turns."""
    clock = time.perf_counter_ns
    times: tuple[list[int], list[int]] = ([], [])
    for number in range(calls + 100):
        for which in ((0, 1) if number % 2 else (1, 0)):
            with (ours, theirs)[which].here():
                began = clock()
                run()
                took = clock() - began
            if number >= 100:
                times[which].append(took)
    return statistics.median(times[0]) / 1000, statistics.median(times[1]) / 1000


def show(rows: Iterable[Row]) -> None:
    print(f"\n{'':36}{'median':>11}{'one os.stat':>14}{'times':>8}{'goal':>10}")
    for row in rows:
        goal = GOALS.get(row.name)
        mark = "  OVER" if goal is not None and row.median > goal else ""
        goal_shown = f"{goal:.0f} us" if goal is not None else ""
        print(f"{row.name:36}{row.median:8.1f} us{row.stat:11.2f} us{row.median / row.stat:8.1f}{goal_shown:>10}{mark}")


def show_growth(rows: Iterable[Row]) -> None:
    by_name = {row.name: row.median / row.stat for row in rows}
    growth = by_name["others active (1,000)"] / by_name["others active (1)"]
    print(f"\nfrom 1 to 1,000 other sessions: {growth:.2f} times (goal {MOST_GROWTH}){'' if growth <= MOST_GROWTH else '  OVER'}")


def show_whole(name: str, ours: float, theirs: float) -> None:
    share = ours / theirs
    print(f"{name:36}{ours:8.1f} us{theirs:8.1f} us{share:10.2f}{'' if share <= MOST_SHARE else '  OVER'}")


# -- what grows

def gate_costs(home: Home, calls: int, **expected: str) -> dict[str, float]:
    """Microseconds of a call by the name of its tool, which must be answered as it says: the least of several medians."""
    arguments = {"read_file": {"path": "/nowhere/a"}, "terminal": {"command": "ls"}}
    gate = home.hook("pre_tool_call")
    rounds = [(tool, checked(tool, gate, call(tool, **arguments[tool]), answer, calls).median)
              for _ in range(ROUNDS) for tool, answer in expected.items()]
    return {tool: min(median for each, median in rounds if each == tool) for tool in expected}


def in_a_mode(home: Home, calls: int) -> dict[str, float]:
    costs = gate_costs(home, calls, terminal="block", read_file="none")
    return {"blocked call": costs["terminal"], "allowed read": costs["read_file"]}


def as_lines(costs: list[dict[str, float]]) -> tuple[Line, ...]:
    """One line for each name, from what was measured at each place."""
    return tuple(Line(name, tuple(each[name] for each in costs)) for name in costs[0])


def over_sessions(home: Home, calls: int) -> tuple[Panel, ...]:
    """What calls cost while other sessions are active."""
    costs, before = [], 0
    for count in OTHERS:
        home.add_others(count - before)
        before = count
        free = gate_costs(home, calls, terminal="none")["terminal"]
        with home.planning():
            costs.append({**in_a_mode(home, calls), "call in no mode": free})
    return (Panel("What a call costs, by the sessions that are active", "other sessions in plan mode", "microseconds",
                  tuple(f"{count:,}" for count in OTHERS), as_lines(costs)),)


def modes_of(kilobytes: int, mark: object) -> str:
    """Mode files of that size, less than a mode more or less. No pattern in them was ever seen before."""
    text, number = "customModes:\n", 0
    while len(text.encode()) < kilobytes * 1000:
        text += (f"  - slug: mode-{number}\n    name: Mode {number}\n    roleDefinition: |\n{PROSE * 40}"
                 f"    customInstructions: >-\n{PROSE * 20}    groups:\n      - read\n      - - edit\n"
                 f"        - fileRegex: ^src/{mark}/{number}/.*\\.(js|ts|css)$\n")
        number += 1
    return text if number else "customModes: []\n"


def over_modes(home: Home, calls: int) -> tuple[Panel, ...]:
    """What calls cost in a mode of files of growing size, and what the first look at those files does."""
    file, costs, loads = home.path / "modes" / "a.yaml", [], []
    file.parent.mkdir()
    registry = home.part("modes.registry").Registry
    for kilobytes in KILOBYTES:
        times = []
        for number in range(ROUNDS):
            file.write_text(modes_of(kilobytes, f"{kilobytes}/{number}"), encoding="utf-8")
            began = time.perf_counter()
            registry(lambda: str(home.path), lambda: "", lambda: None).listing("")
            times.append((time.perf_counter() - began) * 1000)
        loads.append({"first look": min(times)})
        slug = "mode-0" if kilobytes else "ask"
        if not home.type(f"/mode {slug}").startswith(("Mode 0 mode is on", "Ask mode is on")):
            sys.exit(f"{slug} isn't on")
        costs.append(in_a_mode(home, calls))
        home.type("/mode off")
    places = tuple(f"{kilobytes:,} kB" for kilobytes in KILOBYTES)
    return (Panel("What a call costs, by the size of the mode files, once they are loaded", "mode files", "microseconds", places,
                  as_lines(costs)),
            Panel("What the first look at the mode files costs", "mode files", "milliseconds", places, as_lines(loads)))


def draw(root: Path, calls: int, folder: Path) -> None:
    """Measure what grows, and write the drawings of it."""
    about = (f"Calls: the least of {ROUNDS} medians of {calls:,} each. First looks: the least of {ROUNDS}. "
             f"Python {sys.version.split()[0]}, by make bench")
    for name, measure in (("sessions", over_sessions), ("modes", over_modes)):
        home = Home(root / name, PLAN_MODE)
        os.environ["HERMES_HOME"] = str(home.path)
        panels = measure(home, calls)
        folder.mkdir(exist_ok=True)
        (folder / f"bench-{name}.svg").write_text(drawing(about, panels), encoding="utf-8")
        for panel in panels:
            show_panel(panel)


def show_panel(panel: Panel) -> None:
    print(f"\n{panel.title} ({panel.unit}; {panel.along})\n{'':20}" + "".join(f"{place:>10}" for place in panel.places))
    for line in panel.lines:
        print(f"{line.name:20}" + "".join(f"{shown(value):>10}" for value in line.values))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="write drawings of what grows into that folder")
    given = parser.parse_args(arguments)
    calls, folder_of_drawings = 1_000 if given.quick else 10_000, given.draw and given.draw.resolve()
    # This folder, put first by Python, must not hide modules of the host.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]
    with tempfile.TemporaryDirectory(prefix="plan-mode-bench-") as folder:
        root = Path(folder).resolve()
        work = root / "work"
        for made in (work, root / "no-plugins", root / "user"):
            made.mkdir()
        for name in [name for name in os.environ if name.startswith(("HERMES_", "TERMINAL_"))]:
            del os.environ[name]
        os.environ.update(HOME=str(root / "user"), HERMES_HOME=str(root / "user"), TERMINAL_CWD=str(work),
                          HERMES_BUNDLED_PLUGINS=str(root / "no-plugins"), HERMES_ENABLE_PROJECT_PLUGINS="0")
        os.chdir(work)
        try:
            report(root, calls)
            if folder_of_drawings:
                draw(root, calls // 20, folder_of_drawings)
        finally:
            os.chdir(ROOT)
    return 0


def report(root: Path, calls: int) -> None:
    host_module("model_tools")
    ours, theirs = Home(root, PLAN_MODE), Home(root, EMPTY)
    with theirs.here():
        run = whole_call(real_agent())
    never = paired(ours, theirs, run, calls // 5)
    os.environ["HERMES_HOME"] = str(ours.path)
    rows = callbacks(ours, calls)
    others = paired(ours, theirs, run, calls // 5)
    print(f"plan-mode's own callbacks, median of {calls:,} calls, on Python {sys.version.split()[0]}")
    show(rows)
    show_growth(rows)
    print(f"\n{'one whole call':36}{'plan-mode':>11}{'empty':>11}{'share':>10}   (goal {MOST_SHARE})")
    show_whole("never used", *never)
    show_whole("others active (1,000)", *others)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
