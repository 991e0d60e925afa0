"""Where the studio keeps its work: one folder per table, readable by its owner only. Drafts and checks in it are CONFIDENTIAL.

    HOME/tables/ID/project.json   which table, which account, the id of the next run
                   schema.json    the schema under review
                   budget.json    what is to be spent, and what on
                   jobs/ID/       long work (see jobs.py)
                   dropped/       a copy of a table that was dropped onto the page

Releases are not here: they go where their owner says.
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sundog.api.writing import document_text, write_confidential
from sundog.domain.linked.package import is_package
from sundog.domain.linked.reading import schema_from
from sundog.domain.origin import grouped
from sundog.domain.review import Review
from sundog.domain.schema import Schema
from sundog.errors import UserError

ID = re.compile(r"[0-9a-f]{12}")


def default_home() -> Path:
    """The studio's folder in the user's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("sundog", appauthor=False)) / "studio"


def fresh_id() -> str:
    """A name for a table or a job that says nothing."""
    return secrets.token_hex(6)


def make_folder(path: Path) -> Path:
    """A folder that only its owner can open."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def refuse_shared(folder: Path) -> None:
    """Refuse a folder in which somebody else could put an address or a schema."""
    import stat

    found = folder.stat()
    if os.name == "posix" and (found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        raise UserError(
            f"--home: {str(folder)!r} belongs to, or can be written by, other users of this machine; choose a folder of your own."
        )


def read_file(path: Path) -> dict[str, Any] | None:
    """A JSON object that the studio wrote; None where there is none, or half of one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True)
class Project:
    """One table and all that was done with it."""

    folder: Path

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.folder.name

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The content of project.json."""
        return self.read("project") or {}

    @property
    def data(self) -> str:
        """The path of the private table."""
        return str(self.facts["data"])

    @property
    def sql(self) -> str | None:
        """What to read from a database."""
        return self.facts.get("sql")

    @property
    def dataset(self) -> str:
        """The account of the ledger that the table spends from."""
        return str(self.facts["dataset"])

    @property
    def new_account(self) -> bool:
        """Whether that account may be opened although its name looks like an existing one's."""
        return bool(self.facts.get("new_account"))

    @property
    def database(self) -> bool:
        """Whether the table lies in a database."""
        from sundog.sources.addresses import is_address
        from sundog.sources.databases import DATABASE

        return is_address(self.data) or Path(self.data).suffix.lower() in DATABASE

    @property
    def dropped(self) -> bool:
        """Whether the table is the studio's own copy of a file that was dropped onto the page."""
        return self.folder in Path(self.data).parents

    @cached_property
    def document(self) -> dict[str, Any] | None:
        """The schema under review."""
        return self.read("schema")

    @property
    def linked(self) -> bool:
        """Whether it is a package of linked tables."""
        return self.document is not None and is_package(self.document)

    @property
    def review(self) -> Review:
        """The same, as a review."""
        if self.linked:
            raise UserError(
                "schema: linked tables are declared in their datapackage.json; change it there, and read it again."
            )
        return Review(self._declared)

    @property
    def _declared(self) -> dict[str, Any]:
        if self.document is None:
            raise UserError("schema: this table has none yet; draft one, or name a schema file.")
        return self.document

    @property
    def schema(self) -> Schema:
        """The schema, whole and valid."""
        return schema_from(self._declared)

    @property
    def reviewed(self) -> bool:
        """Whether there is a schema of which every field was reviewed."""
        try:
            if self.linked:
                return "fromData" not in grouped(self.schema.origins)
            return self.document is not None and self.review.done
        except UserError:
            return False

    def read(self, name: str) -> dict[str, Any] | None:
        """One of the project's documents."""
        return read_file(self.folder / f"{name}.json")

    def write(self, name: str, document: Mapping[str, Any]) -> "Project":
        """Write one of them; the project as it is then."""
        write_confidential(self.folder / f"{name}.json", document_text(document))
        return Project(self.folder)

    def change(self, **facts: Any) -> "Project":
        """Change what project.json says."""
        return self.write("project", {**self.facts, **facts})


@dataclass(frozen=True)
class Home:
    """The studio's folder, and the ledger that it charges."""

    folder: Path
    ledger: str | None = None

    @property
    def tables(self) -> Path:
        """The folder of all projects."""
        return make_folder(self.folder / "tables")

    def projects(self) -> list[Project]:
        """All tables, the newest first."""
        found = [Project(path) for path in self.tables.iterdir() if (path / "project.json").is_file()]
        return sorted(found, key=lambda one: -(one.folder / "project.json").stat().st_mtime)

    def project(self, name: str) -> Project:
        """One of them; refused where there is none of that name."""
        found = Project(self.tables / name) if ID.fullmatch(name) else None
        if found is None or not found.facts:
            raise LookupError(name)
        return found

    def new_project(self) -> Project:
        """Make an empty project."""
        return Project(make_folder(self.tables / fresh_id()))

    def remove(self, project: Project) -> None:
        """Delete what the studio keeps of a table: never the table itself, a release, or the ledger."""
        shutil.rmtree(project.folder)


def absolute(text: str) -> str:
    """A path as a person writes it, made absolute: ~ is their home, and what is relative starts where the studio was started."""
    if not text.strip() or "\0" in text:
        raise UserError("path: none was given; write the path of a file.")
    return os.path.abspath(os.path.expanduser(text.strip()))
