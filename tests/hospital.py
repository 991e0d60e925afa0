"""A made-up table of 25 hospital columns as an exporter writes it: semicolons, Windows-1252, decimal commas, surprises.

`EXPECTED` is what a person who knows the table would declare (all but bounds and lists, which are the owner's to review).
"""

import random
from datetime import date, datetime, timedelta

FIRST = [
    f"{a}{b}" for a in ("Jürg", "Ann", "Hein", "Mar", "Wolf", "Grét") for b in ("en", "a", "ine", "olf", "ette", "i")
]
LAST = [
    a + b for a in ("Müll", "Schnei", "Fisch", "Web", "Groß", "Wagn") for b in ("er", "der", "mann", "bauer", "hofer")
]
CITIES = ["Dresden", "Köln", "Görlitz", "München", "Bad Düben", "Plauen", "Zwickau", "Weißwasser"]
WARDS = ["Innere", "Chirurgie", "Geburtshilfe", "Kinder", "Intensiv"]
NOTES = ["Patient klagt über Schmerzen", "Verlauf unauffällig; Kontrolle in", "Allergie gegen", 'sog. "Stiche" seit']
TRUE, FALSE = ["trueValues"], ["falseValues"]

EXPECTED = {
    "Fallnummer": {"identifier": True},
    "Patienten-ID": {"identifier": True},
    "Nachname": {"identifier": True},
    "Vorname": {"identifier": True},
    "Geburtsdatum": {"type": "date", "format": "%d.%m.%Y"},
    "Aufnahme": {"type": "datetime", "format": "%d.%m.%Y %H:%M"},
    "Entlassung": {"type": "date"},
    "Aufnahmezeit": {"type": "time", "format": "%H:%M"},
    "Geschlecht": {"type": "string", "categories": ["d", "m", "w"]},
    "PLZ": {"type": "string", "categories": None},
    "Ort": {"type": "string", "categories": sorted(CITIES)},
    "Telefon": {"identifier": True},
    "E-Mail": {"identifier": True},
    "ICD": {"type": "string", "categories": None},
    "Station": {"type": "string", "categories": sorted(WARDS)},
    "Diabetes": {"type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
    "Raucher": {"type": "boolean", "trueValues": ["J"], "falseValues": ["N"]},
    "Beatmet": {"type": "boolean", "trueValues": ["1"], "falseValues": ["0"]},
    "Rechnung": {"type": "number", "decimalChar": ",", "groupChar": ".", "bareNumber": False, "decimals": 2},
    "Eigenanteil": {"type": "number", "decimalChar": ",", "bareNumber": False, "decimals": 1},
    "Temperatur": {"type": "number", "decimalChar": ",", "decimals": 1, "missingValues": ["", "k.A."]},
    "Gewicht": {"type": "integer", "bareNumber": False},
    "Blutdruck": {"type": "integer", "missingValues": ["", "-9"]},
    "Schmerzskala": {"type": "integer", "categories": None},
    "Bemerkung": {"identifier": True},
}
"""Keys as in the document (`decimals` stands in `sundog`); categories None: a list, whichever."""

EDITS = {
    "Blutdruck": "missingValues: -9 means missing (the draft says that it may)",
    "Schmerzskala": "categories 0 to 10, in order, instead of a range of whole numbers",
}
"""What a person has to change in the draft of this table."""


def rows(count, *, seed=1):
    """The lines' cells, as text."""
    draw = random.Random(seed)
    start = datetime(2021, 1, 1)
    zips = sorted({f"{draw.choice(['01', '02', '04', '08', '50', '80'])}{draw.randrange(100, 130)}" for _ in range(80)})
    codes = sorted({f"{draw.choice('ACEIJK')}{draw.randrange(10, 99)}.{draw.randrange(10)}" for _ in range(90)})
    for number in range(count):
        when = start + timedelta(minutes=draw.randrange(3 * 365 * 1440))
        person = draw.randrange(count // 2)
        first, last = draw.choice(FIRST), draw.choice(LAST)
        yield {
            "Fallnummer": str(2021000000 + number),
            "Patienten-ID": f"P{person:06d}",
            "Nachname": last,
            "Vorname": first,
            "Geburtsdatum": (date(1930, 1, 1) + timedelta(draw.randrange(33000))).strftime("%d.%m.%Y"),
            "Aufnahme": when.strftime("%d.%m.%Y %H:%M"),
            "Entlassung": "" if draw.random() < 0.1 else (when + timedelta(draw.randrange(30))).strftime("%Y-%m-%d"),
            "Aufnahmezeit": when.strftime("%H:%M"),
            "Geschlecht": draw.choice("mwwmmwd"),
            "PLZ": draw.choice(zips),
            "Ort": draw.choice(CITIES),
            "Telefon": f"0351 {draw.randrange(10**6, 10**7)}",
            "E-Mail": f"{first}.{last}{person}@example.org".lower(),
            "ICD": draw.choice(codes),
            "Station": draw.choice(WARDS),
            "Diabetes": draw.choice(["ja", "nein", "nein", "unbekannt"]),
            "Raucher": draw.choice(["J", "N", "N", ""]),
            "Beatmet": draw.choice("001"),
            "Rechnung": f"{draw.lognormvariate(7, 1.2):,.2f} €".translate(str.maketrans(",.", ".,")),
            "Eigenanteil": f"{draw.randrange(0, 1000) / 10:.1f} %".replace(".", ","),
            "Temperatur": "k.A." if draw.random() < 0.05 else f"{draw.gauss(37.4, 0.8):.1f}".replace(".", ","),
            "Gewicht": f"{draw.randrange(45, 140)} kg",
            "Blutdruck": "-9" if draw.random() < 0.04 else str(draw.randrange(90, 200)),
            "Schmerzskala": str(draw.randrange(11)),
            "Bemerkung": f"{draw.choice(NOTES)} {draw.randrange(10**6)} Tagen, Befund {draw.randrange(10**6)}",
        }


def write(path, count=600, *, seed=1, encoding="cp1252"):
    """The file, with quotes where a cell holds a separator or a quote."""
    made = list(rows(count, seed=seed))
    lines = [list(made[0]), *(list(row.values()) for row in made)]
    text = "\r\n".join(";".join(map(_quoted, line)) for line in lines) + "\r\n"
    path.write_bytes(text.encode(encoding))
    return path


def _quoted(cell):
    return '"' + cell.replace('"', '""') + '"' if ";" in cell or '"' in cell else cell
