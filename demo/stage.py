"""Where the demo plays: the home, the model, and what the newest scene left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.acceptance.lab import Home, Request, ScriptedModel, ToolResult

_SLUG = "greeting-command"


@dataclass
class Stage:
    """``answer`` is the text the newest command printed, ``script`` the newest turn's name."""

    home: Home
    model: ScriptedModel
    plan: Path = field(init=False)
    answer: str = ""
    script: str = ""
    exit_code: int | None = None

    def __post_init__(self) -> None:
        self.plan = self.home.plans / f"{datetime.now():%Y-%m-%d_%H%M%S}-{_SLUG}.md"

    def fill(self, text: str) -> str:
        """Replace ``{work}``, ``{plans}`` and ``{plan}`` by this stage's paths."""
        paths = {"{work}": self.home.work, "{plans}": self.home.plans, "{plan}": self.plan}
        for placeholder, path in paths.items():
            text = text.replace(placeholder, str(path))
        return text

    @property
    def requests(self) -> list[Request]:
        """What the model was asked in the newest turn."""
        return self.model.of(self.script)

    @property
    def results(self) -> list[ToolResult]:
        """The tool results the model got in the newest turn."""
        return self.model.tool_results(self.script)
