"""A running studio and a browser on it: what the tests in a browser and the script of the screenshots share."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sundog.studio.guard import root_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BROWSER = CHROMIUM if find_spec("playwright") is not None else None
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1"]
START = "from sundog.cli.app import main; main()"


@dataclass
class Running:
    """A studio that was started as people start it."""

    process: subprocess.Popen
    address: str
    folder: Path

    @property
    def port(self):
        return int(re.search(r":(\d+)/", self.address)[1])

    @property
    def base(self):
        """What addresses of pages begin with."""
        origin, _, token = self.address.partition("/?token=")
        return origin + root_of(token)

    @property
    def ledger(self):
        return self.folder / "ledger.sqlite"

    def end(self, how=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=600)
        return self.process.returncode


def started(folder, *options, environment=None):
    """Start it, and read its address off the terminal."""
    folder.mkdir(parents=True, exist_ok=True)
    places = ["--home", str(folder / "home"), "--ledger", str(folder / "ledger.sqlite")]
    process = subprocess.Popen(
        [sys.executable, "-c", START, "studio", "--no-browser", *places, *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | (environment or {}),
    )
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    if found is None:
        process.communicate(timeout=600)
        raise RuntimeError(f"the studio did not start: {line}")
    return Running(process, found[0], folder)


@contextmanager
def browsing(**options):
    """A browser that looks nothing up outside."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
