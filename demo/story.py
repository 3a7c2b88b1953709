"""The story: what happens, scene by scene, and what must then be true. Data only.

``{work}``, ``{plans}`` and ``{plan}`` stand for the stage's paths.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.acceptance.lab import Step

from .expectations import (
    APPROVED,
    IS_OFF,
    IS_ON,
    STAYS_ON,
    TOOL_NOT_GRANTED,
    WRITE_OUTSIDE_PLANS,
)
from .facts import (
    Fact,
    answered,
    blocked,
    ended_well,
    folder,
    model_was_told,
    nothing_at,
    nothing_unscripted,
    on_disk,
    ran,
)


@dataclass(frozen=True)
class Command:
    """The person types a slash command."""

    text: str


@dataclass(frozen=True)
class Turn:
    """The person says ``text``, and the model takes these steps."""

    name: str
    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Leave:
    """The person leaves Hermes."""

    text: str = "/exit"


@dataclass(frozen=True)
class Check:
    """Something that must be true after a scene, as a sentence and as a fact."""

    sentence: str
    fact: Fact


@dataclass(frozen=True)
class Scene:
    title: str
    act: Command | Turn | Leave
    checks: tuple[Check, ...]


APP = "{work}/src/app.py"
README = "{work}/README.md"
PLAN_NAME = "-greeting-command.md"
FEEDBACK = "Greet people by name, and say how to try it."

#: The project before the session.
PROJECT = {"README.md": "# Greeter\n\nWill greet people one day.\n"}

_MAKE_FOLDER = ("terminal", {"command": "mkdir -p src && touch src/__init__.py"})
_WRITE_APP = (
    "write_file",
    {"path": APP, "content": 'import sys\n\nprint(f"Hello, {sys.argv[1]}!")\n'},
)
_FIRST_PLAN = """\
# Greeting command

1. Make the folder `src`.
2. Write `src/app.py`, which prints "Hello!".
"""
_SECOND_PLAN = """\
# Greeting command

1. Make the folder `src`.
2. Write `src/app.py`, which greets the person named on its command line.
3. Try it: `python3 src/app.py Ada`
"""

_STILL_NOTHING_BUILT = Check("nothing was built", nothing_at("{work}/src"))

STORY = (
    Scene(
        "Plan mode is entered",
        Command("/planmode on Add a greeting command"),
        (
            Check("the plan directory exists", folder("{plans}")),
            Check("plan mode is on", answered(IS_ON)),
            Check("the answer names the directory", answered("{plans}")),
        ),
    ),
    Scene(
        "The agent wants to build at once",
        Turn(
            "explore",
            "Add a greeting command, please.",
            (
                Step("Sure! I make the folder first.", [_MAKE_FOLDER]),
                Step("Then I write the program itself.", [_WRITE_APP]),
                Step(
                    "I may only plan for now, so let me look around.",
                    [("read_file", {"path": README})],
                ),
                Step(
                    "Now I write the plan.",
                    [("write_file", {"path": "{plan}", "content": _FIRST_PLAN})],
                ),
                Step("The plan is ready for you."),
            ),
        ),
        (
            Check(
                f"the terminal was blocked [{TOOL_NOT_GRANTED}]",
                blocked("terminal", "mkdir", TOOL_NOT_GRANTED),
            ),
            Check(
                f"writing the program was blocked [{WRITE_OUTSIDE_PLANS}]",
                blocked("write_file", APP, WRITE_OUTSIDE_PLANS),
            ),
            _STILL_NOTHING_BUILT,
            Check("reading was allowed", ran("read_file", README, "Greeter")),
            Check("writing the plan was allowed", ran("write_file", "{plan}")),
            Check("the plan is on disk", on_disk("{plan}", "Hello!")),
        ),
    ),
    Scene(
        "The person looks at the plan",
        Command("/planmode status"),
        (
            Check("plan mode is on", answered(IS_ON)),
            Check("the answer lists the plan", answered(PLAN_NAME)),
        ),
    ),
    Scene(
        "The plan is sent back",
        Command(f"/planmode reject {FEEDBACK}"),
        (Check("plan mode stays on", answered(STAYS_ON)), _STILL_NOTHING_BUILT),
    ),
    Scene(
        "The agent revises the plan",
        Turn(
            "revise",
            "What about now?",
            (
                Step("Let me try that quickly.", [_MAKE_FOLDER]),
                Step(
                    "Right, still planning. I read my plan again.",
                    [("read_file", {"path": "{plan}"})],
                ),
                Step(
                    "I put your wishes into it.",
                    [("write_file", {"path": "{plan}", "content": _SECOND_PLAN})],
                ),
                Step("The plan now greets by name and ends with a trial."),
            ),
        ),
        (
            Check("the model got the feedback, word for word, once", model_was_told(FEEDBACK)),
            Check(
                "the terminal was blocked again",
                blocked("terminal", "mkdir", TOOL_NOT_GRANTED),
            ),
            _STILL_NOTHING_BUILT,
            Check("the plan on disk is the new one", on_disk("{plan}", "src/app.py Ada")),
        ),
    ),
    Scene(
        "The plan is approved",
        Command("/planmode approve"),
        (
            Check("plan mode is off", answered(IS_OFF)),
            Check("the answer names the plan", answered(PLAN_NAME)),
            _STILL_NOTHING_BUILT,
        ),
    ),
    Scene(
        "The agent builds what was approved",
        Turn(
            "build",
            "Go ahead.",
            (
                Step("First the folder.", [_MAKE_FOLDER]),
                Step("Now the program.", [_WRITE_APP]),
                Step(
                    "And a trial, as planned.",
                    [("terminal", {"command": "python3 src/app.py Ada"})],
                ),
                Step("Done: everything in the plan is built and tried."),
            ),
        ),
        (
            Check("the model got the approval, once", model_was_told(APPROVED)),
            Check("the terminal ran", ran("terminal", "mkdir")),
            Check("its file is on disk", on_disk("{work}/src/__init__.py")),
            Check("the program was written", ran("write_file", APP)),
            Check("it is on disk", on_disk(APP, "Hello")),
            Check("it works", ran("terminal", "app.py Ada", "Hello, Ada!")),
        ),
    ),
    Scene(
        "The person leaves",
        Leave(),
        (
            Check("Hermes ended well", ended_well),
            Check("the model was asked nothing else", nothing_unscripted),
        ),
    ),
)
