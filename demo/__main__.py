"""`python3 -m demo [--host 0.22] [--markdown] [--keep]`, from the repository's root."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from tests.acceptance.lab import HOSTS, Host, Lab, MissingHost, TimedOut, find_host

from .plain import at_home, normalised
from .player import Played, play, set_stage
from .progress import Progress
from .render import Renderer
from .stage import Stage
from .story import STORY
from .transcript import transcript

_WIDTH = 100

ENFORCED, NOT_ENFORCED, NOT_STARTED, INTERRUPTED = 0, 1, 2, 130


def main() -> int:
    """Play the story; return 0 if every check of every scene held."""
    options = _options()
    progress = Progress(sys.stderr)
    try:
        host = find_host(options.host)
        with Lab() as lab:
            lab.keep = options.keep
            return _show(lab, host, options.markdown, progress)
    except (MissingHost, FileNotFoundError) as error:
        progress.failed(str(error))
        return NOT_STARTED
    except TimedOut as error:
        progress.failed(f"Hermes {options.host} didn't start: {error}")
        return NOT_STARTED
    except KeyboardInterrupt:
        progress.failed("interrupted")
        return INTERRUPTED


def _show(lab: Lab, host: Host, markdown: bool, progress: Progress) -> int:
    stage = set_stage(lab, host)
    renderer = _renderer(stage, markdown)
    if markdown:
        print("```text")
    renderer.heading(f"plan-mode in Hermes {host.version}: a session in the classic CLI.")
    renderer.heading("The model is a script; everything else is real.")
    progress.now(f"starting Hermes {host.version}")
    cli = lab.cli(stage.home)
    played: list[Played] = []
    progress.now(STORY[0].title)
    for each in play(cli, stage):
        progress.done()
        renderer.scene(each.number, each.scene.title)
        renderer.lines(transcript(each.scene, stage))
        played.append(each)
        if each.number < len(STORY) and not each.faults:
            progress.now(STORY[each.number].title)
    renderer.summary(played)
    if markdown:
        print("```")
    return _verdict(played, progress)


def _verdict(played: list[Played], progress: Progress) -> int:
    last = played[-1]
    if not last.faults:
        return ENFORCED
    reasons = "; ".join(last.faults)
    progress.failed(f'step {last.number}, "{last.scene.title}", failed: {reasons}')
    return NOT_ENFORCED


def _renderer(stage: Stage, markdown: bool) -> Renderer:
    if markdown:
        return Renderer(sys.stdout, _WIDTH, False, normalised(stage.home))
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Renderer(sys.stdout, width, colours, at_home(stage.home))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m demo",
        description="Play one plan-mode session in a real Hermes, with a scripted model, offline.",
    )
    parser.add_argument("--host", choices=HOSTS, default=HOSTS[0], help="which Hermes")
    parser.add_argument("--markdown", action="store_true", help="print plain text that is the same in every run")
    parser.add_argument("--keep", action="store_true", help="keep the home, and print where it is")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
