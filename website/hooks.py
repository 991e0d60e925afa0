"""What the website adds to the pages: files of the project that pages link to, such as examples and the changelog.

Pages link to them by their place in the project (`../../examples/x.py`), so that links work in a checkout as well; here such a
link becomes one to the copy on the website. A link to source code becomes the path alone: the website holds no source code.
In running text, options such as `--seed` are kept whole: browsers would break them after the dashes.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PROJECT = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security-policy.md",
}
OPTION, MARKED = r"(?<![\w-])(--[a-z][\w-]*)", r'<span class="option">\1</span>'
EXAMPLES = ("*.py", "*.ipynb", "*.R", "*.do")


def on_files(files: Files, config: Any) -> Files:
    """Add the project's own pages, and the examples as files to download."""
    for name, place in PROJECT.items():
        files.append(File.generated(config, place, content=(ROOT / name).read_text(encoding="utf-8")))
    for pattern in EXAMPLES:
        for path in sorted((ROOT / "examples").glob(pattern)):
            files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links that leave the folder of the pages to the website's copies."""
    uri = page.file.src_uri
    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", lambda link: _moved(link[0], link[1], link[2], uri), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Mark the options in inline code, so that the style can keep each on one line."""
    return re.sub(r"<code>([^<\n]*)</code>", lambda code: f"<code>{re.sub(OPTION, MARKED, code[1])}</code>", html)


def _moved(link: str, text: str, target: str, uri: str) -> str:
    """One link: what it leads to is found in the project first, then on the website."""
    if "://" in target or target.startswith("#"):
        return link
    place, hash_, anchor = target.partition("#")
    origin = next((name for name, there in PROJECT.items() if there == uri), f"docs/{uri}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), place))
    if path in PROJECT:
        goal = PROJECT[path]
    elif path.startswith(("docs/", "examples/")):
        goal = path.removeprefix("docs/")
    else:
        return text
    return f"[{text}]({posixpath.relpath(goal, posixpath.dirname(uri) or '.')}{hash_}{anchor})"
