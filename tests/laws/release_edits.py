"""Ways to change a release folder, careless and cunning: what `sundog verify` has to find, or else to name.

A forger may bring hashes up to date, write pages again, and run Sundog. FOUND are edits that are found in the folder alone; HIDDEN those
that are found with a signature or a ledger, and of which a verdict without them names what it leaves open.
"""

import csv
import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from sundog.api.making import Place, linked_names, remake_release
from sundog.api.model import fitted_again
from sundog.api.options import Signing
from sundog.api.parts import RECORD, Parts
from sundog.api.recorded import read_recorded
from sundog.api.release import hashes
from sundog.released import Released
from sundog.report.certificate import PAGE, sealed
from sundog.report.description import write_description
from sundog.report.release_files import is_table, made

SEALS = ("certificate.json", "certificate.sig")


@dataclass(frozen=True)
class Forge:
    """A release to be changed, a source of randomness, and what an attacker has at hand."""

    folder: Path
    random: object
    real: Path
    changed: list = field(default_factory=list)

    def names(self, *kinds):
        return [path.name for path in sorted(self.folder.iterdir()) if not kinds or made(path.name) in kinds]

    def pick(self, names):
        name = names[int(self.random.integers(len(names)))]
        self.changed.append(name)
        return self.folder / name

    def table(self):
        return self.pick([name for name in self.names() if is_table(name)])

    def document(self):
        return json.loads((self.folder / "certificate.json").read_text())

    def certify(self, *, page=True, **said):
        """Bring the hashes up to date; with the page of the certificate as it then is, or as it was."""
        document = self.document() | said
        document["files"] = {name: digest for name, digest in hashes(self.folder).items() if name != PAGE}
        texts = sealed(document)
        if page:
            (self.folder / PAGE).write_text(texts[PAGE])
        else:
            document["files"][PAGE] = hashes(self.folder)[PAGE]
            texts["certificate.json"] = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        (self.folder / "certificate.json").write_text(texts["certificate.json"])


def flip(path, random):
    content = bytearray(path.read_bytes())
    content[int(random.integers(len(content)))] ^= 1 << int(random.integers(8))
    path.write_bytes(bytes(content))


def a_byte(forge):
    flip(forge.pick(forge.names()), forge.random)


def some_bytes(forge):
    path = forge.pick(forge.names())
    content = path.read_bytes()
    at = int(forge.random.integers(len(content) + 1))
    cut = int(forge.random.integers(at, min(at + 9, len(content)) + 1))
    new = content[:at] + b" " * (1 + int(forge.random.integers(2))) + content[cut + 1 :]
    path.write_bytes(new if new != content else content + b" ")


def a_file_less(forge):
    forge.pick([name for name in forge.names() if name not in SEALS]).unlink()


def a_file_more(forge):
    new = ["notes.txt", ".hidden", "real.csv", "adjust.json", "adjusted.csv", "synthetic.more.csv", "certificate.sig"]
    absent = [name for name in new if not (forge.folder / name).exists()]
    forge.pick(absent).write_text("anything")


def a_folder_more(forge):
    forge.pick(["notes", "adjust.json"]).mkdir()


def a_link(forge):
    path = forge.pick(forge.names())
    shutil.move(path, forge.folder.parent / f"moved {path.name}")
    path.symlink_to(forge.folder.parent / f"moved {path.name}")


def a_byte_and_its_hash(forge):
    flip(forge.pick([name for name in forge.names() if name not in SEALS]), forge.random)
    forge.certify(page=False)


def a_byte_and_everything_about_it(forge):
    """Of what is not fitted, a changed byte may be another release that fits together (another purpose, say)."""
    names = [name for name in forge.names("drawn", "stated") if name not in (*SEALS, PAGE)]
    flip(forge.pick(names), forge.random)
    forge.certify()


def a_page_with_a_script(forge):
    path = forge.pick([name for name in ("report.html", "explore.html", PAGE) if (forge.folder / name).exists()])
    path.write_text(path.read_text().replace("</body>", "<script>fetch('//elsewhere')</script></body>"))
    forge.certify(page=path.name != PAGE)


def a_page_with_another_epsilon(forge):
    """The certificate for people promises what the one for machines does not."""
    (forge.folder / PAGE).write_text(sealed(forge.document() | {"epsilon": 0.01, "claim": "epsilon 0.01"})[PAGE])
    forge.changed.append(PAGE)
    forge.certify(page=False)


def a_certificate_with_another_epsilon(forge):
    forge.changed.append("certificate.json")
    forge.certify(page=bool(forge.random.integers(2)), epsilon=0.01, claim="epsilon 0.01")


def a_certificate_with_more(forge):
    forge.changed.append("certificate.json")
    forge.certify(approved="by nobody")


def the_real_rows(forge):
    """The private table itself, under the synthetic one's name, with all that follows from other files brought up to date."""
    path = forge.table()
    _write(_read(forge.real / f"{_stem(path)}.csv"), path)
    forge.certify()


def rows_in_another_order(forge):
    path = forge.table()
    table = _read(path)
    order = forge.random.permutation(table.num_rows)
    order = order if (order != sorted(order)).any() else order[::-1]
    _write(table.take(pa.array(order)), path)
    forge.certify()


def rows_twice(forge):
    path = forge.table()
    table = _read(path)
    _write(pa.concat_tables([table, table.slice(0, 1)]), path)
    forge.certify()


def rows_of_another_seed(forge):
    """Rows that are as good as those that were drawn, but other ones; pages and recipe say the first."""
    other = Forge(forge.folder.with_name("other"), forge.random, forge.real)
    shutil.copytree(forge.folder, other.folder)
    remade(other, seed=int(forge.random.integers(1, 2**31)))
    for name in forge.names("drawn"):
        if is_table(name):
            shutil.copy(other.folder / name, forge.folder / name)
            forge.changed.append(name)
    shutil.rmtree(other.folder)
    forge.certify()


def a_model_with_another_seed(forge):
    document = json.loads((forge.folder / "model.json").read_text())
    (forge.folder / "model.json").write_text(json.dumps(document | {"seed": document["seed"] + 1}) + "\n")
    forge.changed.append("model.json")
    forge.certify()


def a_fitted_model_of_other_measurements(forge):
    """fitted.npz, and the rows and pages that follow from it, while measurements, method and seed stay."""
    path = forge.folder / "released.json"
    own = path.read_text()
    path.write_text(with_another_value(json.loads(own), forge.random))
    other = fitted_again(forge.folder)
    path.write_text(own)
    forge.changed.append("fitted.npz")
    remade(forge, state=other.state)


def two_files_for_each_other(forge):
    first, second = (forge.folder / name for name in forge.random.permutation(forge.names("drawn", "stated"))[:2])
    held = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(held)
    forge.changed.extend([first.name, second.name])


def a_file_that_nobody_asked_for(forge):
    """One more file of a release, named by the certificate and the page."""
    absent = [name for name in ("adjust.json", "public.parquet", "synthetic.more.csv") if name not in forge.names()]
    forge.pick(absent).write_text("{}")
    released = Released.load(forge.folder / "released.json")
    write_description(forge.folder, released, method=forge.document()["method"])
    forge.certify()


def a_file_that_is_no_longer_named(forge):
    forge.pick(["report.html", "explore.html", "fitted.npz", "README.txt"]).unlink()
    forge.certify()


def a_smaller_rho(forge):
    """The claim and all texts; what was paid stays as it was."""
    document = json.loads((forge.folder / "released.json").read_text())
    document["guarantee"]["rho"] /= 4
    document["guarantee"]["epsilon"] /= 2
    (forge.folder / "released.json").write_text(json.dumps(document, ensure_ascii=False) + "\n")
    remade(forge)


def another_signature(forge):
    path = forge.folder / "certificate.sig"
    path.write_text("AAAA\n" if forge.random.integers(2) else path.read_text() + "\n" if path.exists() else "x")
    forge.changed.append(path.name)


# What nobody can find in the folder alone: other releases that fit together, and what is excused.


def another_purpose(forge):
    forge.certify(purpose="something else", approvedBy="nobody")


def everything_of_another_seed(forge):
    remade(forge, seed=int(forge.random.integers(1, 2**31)))


def other_measurements(forge):
    """Other noisy values, and everything made of them."""
    path = forge.folder / "released.json"
    path.write_text(with_another_value(json.loads(path.read_text()), forge.random))
    remade(forge)


def with_another_value(document, random):
    values = document["measurements"][int(random.integers(len(document["measurements"])))]["values"]
    values[int(random.integers(len(values)))] += 30
    return json.dumps(document, ensure_ascii=False) + "\n"


def a_smaller_epsilon_everywhere(forge):
    """Every payment and the claim, a quarter of what they were, and everything made of it."""
    document = json.loads((forge.folder / "released.json").read_text())
    for payment in document["payments"]:
        payment["rho"] /= 4
    document["guarantee"]["rho"] /= 4
    document["guarantee"]["epsilon"] *= 0.9
    (forge.folder / "released.json").write_text(json.dumps(document, ensure_ascii=False) + "\n")
    remade(forge)


def rows_made_elsewhere(forge):
    rows_in_another_order(forge)
    versions = forge.document()["versions"]
    forge.certify(versions=versions | {"numpy": "1.0"})


def rows_after_ctrl_c(forge):
    rows_in_another_order(forge)
    document = json.loads((forge.folder / "model.json").read_text())
    drawn = document.pop("drawn")
    document = document | {"endedEarly": True, "drawn": drawn}
    (forge.folder / "model.json").write_text(json.dumps(document) + "\n")
    forge.certify()


def a_page_of_another_version(forge):
    a_page_with_another_epsilon(forge)
    forge.certify(page=False, sundog="0.0.1")


FOUND = (
    a_byte,
    some_bytes,
    a_file_less,
    a_file_more,
    a_folder_more,
    a_link,
    a_byte_and_its_hash,
    a_byte_and_everything_about_it,
    a_page_with_a_script,
    a_page_with_another_epsilon,
    a_certificate_with_another_epsilon,
    a_certificate_with_more,
    the_real_rows,
    rows_in_another_order,
    rows_twice,
    rows_of_another_seed,
    a_model_with_another_seed,
    a_fitted_model_of_other_measurements,
    two_files_for_each_other,
    a_file_that_nobody_asked_for,
    a_file_that_is_no_longer_named,
    a_smaller_rho,
    another_signature,
)
"""Found in the folder alone; a signature file alone is checked with its key."""
HIDDEN = {
    another_purpose: "origin",
    everything_of_another_seed: "origin",
    other_measurements: "origin",
    a_smaller_epsilon_everywhere: "origin",
    rows_made_elsewhere: "rows",
    rows_after_ctrl_c: "rows",
    a_page_of_another_version: "statements",
}
"""Found with a signature or a ledger; without, the verdict names what is not established."""
EDITS = (*FOUND, *HIDDEN)


def remade(forge, *, seed=None, state=None):
    """The whole release made again as Sundog makes it, in the same place, with the record that the certificate states.

    `state`: what the model is taken to be fitted to, in place of what its measurements give.
    """
    record = {name: forge.document()[name] for name in ("date", "purpose", "approvedBy", "account", "disclosures")}
    recorded, released = read_recorded(forge.folder), Released.load(forge.folder / "released.json")
    if seed is not None:
        document = json.loads((forge.folder / "model.json").read_text())
        (forge.folder / "model.json").write_text(json.dumps(document | {"seed": seed}) + "\n")
    held = json.loads((forge.folder / RECORD).read_text()) if (forge.folder / RECORD).exists() else None
    parts = None if held is None else Parts(*(held[name] for name in ("rows", "part_rows", "seed", "where")))
    model, drawn = fitted_again(forge.folder), recorded.drawn
    model = model if state is None else replace(model, state=state)
    names = linked_names(released.schema)
    place = Place(forge.folder, drawn.rows, drawn.format, where=drawn.where, linked=names, parts=parts)
    signature = forge.folder / "certificate.sig"
    kept = signature.read_bytes() if signature.exists() else None
    remake_release(model, place=place, signing=Signing(), report=lambda _: None)
    forge.certify(**record)
    if kept is not None:
        signature.write_bytes(kept)


def _stem(path):
    """The name of a table's file in the folder of the real ones."""
    parts = path.name.split(".")
    return parts[1] if len(parts) == 3 and not parts[1].startswith("part-") else "data"


def _read(path):
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    with open(path, newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    return pa.table({name: [line[k] for line in lines] for k, name in enumerate(head)})


def _write(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        from pyarrow import csv as arrow_csv

        arrow_csv.write_csv(table, path, arrow_csv.WriteOptions(quoting_style="needed"))
