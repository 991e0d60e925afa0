"""The website builds without a warning (broken links are warnings), loads nothing from elsewhere, and is in both distributions."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from markdown_pages import ROOT

ASSETS = r"""<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)"""
FILES = ("mkdocs.yml", "pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
STYLES = r"""(?:@import|url\()\s*["']?((?:https?:)?//[^"')\s]+)"""


def outside(folder):
    """Addresses elsewhere that a page or a style would load."""
    pages = [path.read_text(encoding="utf-8") for path in folder.rglob("*.html")]
    styles = [path.read_text(encoding="utf-8") for path in folder.rglob("*.css")]
    found = [each for text in pages for each in re.findall(ASSETS, text)]
    return set(found) | {each for text in [*pages, *styles] for each in re.findall(STYLES, text)}


def test_what_is_loaded_from_elsewhere_is_noticed(tmp_path):
    for text in ('<script src="https://x.org/a.js"></script>', '<link rel="stylesheet" href="//x.org/a.css">'):
        (tmp_path / "index.html").write_text(text, encoding="utf-8")
        assert outside(tmp_path)
    (tmp_path / "index.html").write_text('<a href="https://x.org">a link is fine</a>', encoding="utf-8")
    assert not outside(tmp_path)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy, so that pages can be spoilt."""
    pytest.importorskip("mkdocs", reason="the website needs the packages of sundog[docs]")
    folder = tmp_path_factory.mktemp("project")
    for name in ("docs", "website", "examples", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "site"))
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


def build(folder):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]  # with --quiet, broken links would pass
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@pytest.mark.slow
def test_the_website_builds_and_loads_nothing_from_elsewhere(project):
    done = build(project)
    assert done.returncode == 0, done.stdout + done.stderr
    site = project / "src" / "sundog" / "site"
    assert not outside(site)
    assert (site / "search" / "search_index.js").exists()
    assert "Synthesizer" in (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert (site / "examples" / "hospital.ipynb").exists()


@pytest.mark.slow
@pytest.mark.parametrize("link", ["nowhere.md", "schema.md#no-such-heading"])
def test_a_broken_link_fails_the_build(project, link):
    page = project / "docs" / "reference" / "glossary.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n[broken]({link})\n", encoding="utf-8")
    assert build(project).returncode != 0
    page.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_both_distributions_hold_the_website_and_an_installed_copy_finds_it(project, tmp_path):
    pytest.importorskip("hatchling", reason="distributions are built by hatchling, of sundog[docs]")
    assert build(project).returncode == 0
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "dist"), "-t", "sdist", "-t", "wheel"]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (source,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"src/sundog/site/index.html", "mkdocs.yml", "website/hooks.py", "docs/index.md"} <= names
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    assert "installed/sundog/site/index.html\n" in installed(tmp_path, "docs", "--no-browser")
    assert installed(tmp_path, "help", "epsilon").startswith("### epsilon")
    shutil.rmtree(tmp_path / "installed" / "sundog" / "site")
    assert "installed/sundog/pages" in installed(tmp_path, "docs", "--no-browser")


def installed(folder, *words):
    """What a command of the unpacked wheel prints, run in another place than the checkout."""
    code = "from sundog.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(folder / "installed")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
