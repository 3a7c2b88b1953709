"""Several changes of one request, as one callback."""

from __future__ import annotations

from typing import Any

from plan_mode.hooks.requests import one_after_another
from tests.fake_host import Cli


def test_each_gets_what_the_one_before_made() -> None:
    def adding(word: str) -> Any:
        return lambda request, session_id: {"request": [*request, f"{word}{session_id}"]} if word else None

    change = one_after_another(adding(""), adding("a"), adding(""), adding("b"), adding(""))
    assert change(request=["x"], session_id=1) == {"request": ["x", "a1", "b1"]}
    assert one_after_another(adding(""), adding(""))(request=["x"], session_id=1) is None
    assert one_after_another()(request=["x"]) is None


def test_a_mode_with_a_model_is_offered_its_tools_alone(cli: Cli) -> None:
    cli.type("/mode model ask big")
    cli.type("/mode ask")
    sent = cli.sent({"model": "own", "messages": [], "tools": [{"name": "terminal"}, {"name": "read_file"}]})
    assert sent == {"model": "big", "messages": [], "tools": [{"name": "read_file"}]}
