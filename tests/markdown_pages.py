"""Runs the Markdown pages: shell commands, Python examples, files to be written, in the order of the page.

A comment before a block says what is special about it; readers do not see it:

    <!-- run: slow -->             run by `make audit` alone
    <!-- run: never; REASON -->    not run
    <!-- exit: 3 -->               the command ends with this exit code
    <!-- file: PATH -->            the block is the content of this file
    <!-- output -->                the block is what the block before printed; ... stands for anything
    <!-- page: slow -->            at the top: the whole page is run by `make audit` alone

Commands `sundog ...` run in this process, others in a shell. Pages run in a folder of their own with the files of docs_world.py.
"""

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest import mock

from sundog.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "GOVERNANCE.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "news" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SHELL = ("sh", "bash")


@dataclass(frozen=True)
class Block:
    """One fenced block with the notes before it."""

    language: str
    text: str
    notes: dict[str, str]

    @property
    def shell(self):
        """Commands; a block without a language is one where it holds commands of Sundog."""
        return self.language in SHELL or (not self.language and re.search(r"^sundog ", self.text, flags=re.MULTILINE))

    @property
    def kind(self):
        return self.notes.get("run", "").partition(";")[0].strip() or "fast"


def blocks(page):
    text = page.read_text(encoding="utf-8")
    pattern = r"((?:^<!--[^\n]*-->\n)*)^```([\w-]*)\n(.*?)^```$"
    found = re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)
    whole = {"run": "slow"} if "<!-- page: slow -->" in text else {}
    return [Block(language, body, whole | _notes(notes)) for notes, language, body in found]


def _notes(text):
    pairs = re.findall(r"<!-- (\w+)(?:: (.*?))? -->", text)
    return dict(pairs)


def is_slow(page):
    return any(block.kind == "slow" for block in blocks(page))


def run_page(page, folder, *, slow=False):
    """Run a page's blocks in a folder; without `slow`, those that are quick."""
    kinds = {"fast", "slow"} if slow else {"fast"}
    names: dict[str, object] = {}
    printed = ""
    with contextlib.chdir(folder):
        for block in blocks(page):
            if block.kind not in kinds:
                continue
            if "output" in block.notes:
                compare(block.text, printed, page)
            elif "file" in block.notes:
                Path(block.notes["file"]).parent.mkdir(parents=True, exist_ok=True)
                Path(block.notes["file"]).write_text(block.text, encoding="utf-8")
            elif block.shell:
                printed = run_shell(block, page)
            elif block.language == "python":
                run_python(block, names, page)
            else:
                check_data(block, page)


def compare(wanted, printed, page):
    checker = doctest.OutputChecker()
    assert checker.check_output(wanted, printed, FLAGS), f"{page.name}: said\n{wanted}\nprinted\n{printed}"


def run_shell(block, page):
    lines = re.sub(r"\\\n\s*", " ", block.text).splitlines()
    wanted = int(block.notes.get("exit", 0))
    printed = ""
    for line in lines:
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if wanted == 0 and not {"--force", "--resume"} & set(words):
            _clear(words)
        code, out, err = run_sundog(words[1:]) if words[0] == "sundog" and "|" not in words else run_other(line)
        assert code == wanted, f"{page.name}: {line}\nended with {code}, not {wanted}:\n{out}{err}"
        printed += out
    return printed


def _clear(words):
    """What a command makes is not there before, even where another example made it: pages name one place for many commands."""
    for flag, target in pairwise(words):
        if flag in ("-o", "--out", "--html") and Path(target).exists():
            Path(target).rename(f"{target}.before-{len(os.listdir())}")


def run_sundog(words):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["sundog", *words]),
        mock.patch("webbrowser.open", return_value=True),
    ):
        try:
            app.main()
        except SystemExit as stop:
            code = stop.code or 0
    return code, out.getvalue(), err.getvalue()


def run_other(line):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", line],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"PATH": path},
    )
    return done.returncode, done.stdout, done.stderr


def run_python(block, names, page):
    if ">>> " not in block.text:
        exec(compile(block.text, page.name, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), 0)
    test.globs = names  # a copy would lose what later blocks need
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)


def check_data(block, page):
    """JSON and TOML are well-formed; a fragment of an object or a list will do, and [...] stands for a list."""
    if block.language == "toml":
        tomllib.loads(block.text)
    if block.language != "json":
        return
    text = block.text.replace("[...]", "[]")
    for form in ("{}", "[{}]", "{{{}}}"):
        with contextlib.suppress(json.JSONDecodeError):
            json.loads(form.replace("{}", text, 1) if form != "{{{}}}" else "{" + text + "}")
            return
    raise AssertionError(f"{page.name}: this is no JSON:\n{block.text}")
