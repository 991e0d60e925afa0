"""Names that look alike are found: every confusable of the published table, every case, and both at once; others are not."""

import random
import unicodedata

import pytest

from sundog import Ledger, UserError
from sundog.domain.unit import PrivacyUnit
from sundog.private import look_alikes
from sundog.private.account_name import normal_name
from sundog.private.accountant import Charge
from sundog.private.look_alikes import alike, confusables, look_alike, skeleton

WORDS = [
    "patients1",
    "November Incident",
    "modern census 2021",
    "WAVE-O",
    "Köln_Straße",
    "больница",
    "Σίσυφος",
    "病院",
    "il1|o0",
]

PAIRS = {
    "capitals": ("patients", "Patients"),
    "a Cyrillic letter": ("patients", "p\u0430tients"),
    "Cyrillic letters alone": ("cocoa", "\u0441\u043e\u0441\u043e\u0430"),
    "Greek capitals in a name in small letters": ("november incident", "\u039do\u03bdember Incident"),
    "one and l": ("patients1", "patientsl"),
    "one and capital i": ("patients1", "patientsI"),
    "l for a capital i": ("patients", "PATlENTS"),
    "nought and o": ("wave0", "waveo"),
    "rn and m": ("modern", "modem"),
    "an em dash": ("a-b", "a\u2014b"),
    "a minus sign": ("a-b", "a\u2212b"),
    "full-width letters": ("adult", "\uff41dult"),
    "letters with a stroke": ("ward \u00f8", "ward o\u0338"),
    "sharp s": ("stra\u00dfe", "STRASSE"),
    "final sigma": ("\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3"),
    "a variation selector": ("census", "cen\U000e0100sus"),
    "a Mongolian one": ("census", "cen\u180bsus"),
}  # fmt: skip
APART = [("patients", "patient"), ("wave1", "wave2"), ("run_n", "run_v"), ("survey_u", "survey_y"), ("2019", "2021"), ("a b", "ab"),
         ("a_b", "a-b"), ("hospital", "hospital 2"), ("K\u00f6ln", "Koln"), ("census", "census_persons"), ("5", "S")]  # fmt: skip


def charged(ledger, name):
    charge = Charge("gaussian", 0.1, label="a count")
    return ledger.charge(name, [charge], unit=PrivacyUnit())


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_names_that_look_alike(pair):
    one, other = map(normal_name, pair)
    assert alike(one, other)
    assert alike(other, one)


@pytest.mark.parametrize("pair", APART, ids=map(str, APART))
def test_names_that_differ(pair):
    assert not alike(*pair)
    assert not alike(*reversed(pair))


def test_every_letter_looks_like_itself_in_every_form():
    """Skeletons of skeletons are the same; case and compatibility forms make no other name."""
    for letter in map(chr, range(0x110000)):
        forms = {letter.casefold(), letter.upper(), letter.lower(), unicodedata.normalize("NFKC", letter)}
        if forms != {letter} or letter in confusables():
            assert skeleton(skeleton(letter)) == skeleton(letter)
            assert all(alike(letter, form) for form in forms), hex(ord(letter))


def test_every_confusable_in_the_place_of_its_letter_is_found():
    table = confusables()
    assert len(table) > 2700
    assert [table[letter] for letter in "1I0m\u0430\u2013"] == ["l", "l", "O", "rn", "a", "-"]
    for letter, shown in table.items():
        for one, other in ((letter, shown), (f"ward {letter} 7", f"WARD {shown} 7")):
            assert alike(normal_name(one), normal_name(other)), hex(ord(letter))


def substituted(word):
    """The word with one letter, or several that look like one, exchanged for what looks like it: all that the table has."""
    for letter, shown in confusables().items():
        for one, other in ((letter, shown), (shown, letter)):
            places = (place for place in range(len(word)) if word.startswith(one, place))
            yield from (word[:place] + other + word[place + len(one) :] for place in places)


def test_every_substitution_in_a_name_is_refused():
    """For each place of each name every confusable, in both cases; the name itself is always found."""
    tried = 0
    for word in WORDS:
        known = [normal_name(word)]
        assert look_alike(known[0], known) is None
        for changed in [swapped for made in substituted(word) for swapped in (made, made.swapcase())]:
            name = normal_name(changed)
            tried += name not in known
            assert name in known or look_alike(name, known) == known[0], ascii(name)
    assert tried > 1000


def test_random_substitutions_in_random_cases_are_refused():
    draws, others = random.Random(1), {}
    for letter, shown in confusables().items():
        others.setdefault(shown, []).append(letter)
    for _ in range(2000):
        word = normal_name("".join(draws.choices("abcdefghilmnoprstuvwxyz0123 -_|", k=draws.randint(3, 12))) + "x")
        changed = "".join(
            draws.choice([letter, letter.upper(), *others.get(letter, ()), *others.get(letter.upper(), ())])
            for letter in word
        )
        assert alike(word, normal_name(changed)), (word, ascii(changed))


def test_long_names_take_no_time(monkeypatch):
    """The walk visits few states, also where every letter can be read in several ways."""
    visited, step = [], look_alikes._next
    monkeypatch.setattr(look_alikes, "_next", lambda *state: (visited.append(1), step(*state))[1])
    for one, other in (
        ("m" * 200, "rn" * 99 + "m"),
        ("il1|" * 50, "1li|" * 49 + "x"),
        ("\ufdfa" * 11, "\ufdfa" * 10 + "x"),
    ):
        assert not alike(*map(normal_name, (one, other)))
        assert len(visited) < 2000
        visited.clear()


def test_the_ledger_refuses_look_alikes_and_writes_nothing():
    ledger = Ledger()
    charged(ledger, "patients1")
    spent = ledger.export()
    said = r"no account 'patientsl', but its name looks like that of 'patients1'; character 9 is LATIN SMALL LETTER L here and DIGIT ONE there"
    for write in (
        lambda: charged(ledger, "patientsl"),
        lambda: ledger.disclose("patientsl", "a look"),
        lambda: ledger.set_limit("patientsl", rho=1.0),
        lambda: ledger.check("patientsl", 0.1, unit=PrivacyUnit(), accounting="zcdp"),
        lambda: ledger.check_name("patientsl"),
    ):
        with pytest.raises(UserError, match=said):
            write()
    assert ledger.export() == spent


def test_the_message_shows_what_cannot_be_told_apart():
    ledger = Ledger()
    charged(ledger, "K\u00f6ln p")
    with pytest.raises(UserError) as refused:
        charged(ledger, "K\u00f6ln \u0440")
    assert r"'K\xf6ln \u0440'" in str(refused.value)
    assert r"'K\xf6ln p'" in str(refused.value)
    assert "character 6 is CYRILLIC SMALL LETTER ER here and LATIN SMALL LETTER P there" in str(refused.value)
    assert "--new-account (new_account=True in Python)" in str(refused.value)


def test_a_new_account_is_opened_where_it_is_asked_for():
    """From then on both are there: each is found by its exact name, as two old accounts that look alike are."""
    charged(Ledger(), "patients1")
    charged(Ledger(new_account=True), "patientsl")
    for name in ("patients1", "patientsl", " patientsl ", "\uff50atients1"):
        charged(Ledger(), name)
    assert Ledger().accounts() == ["patients1", "patientsl"]
    assert [len(Ledger().account(name).entries) for name in ("patients1", "patientsl")] == [3, 3]
    assert [account.dataset for account in Ledger().known("patientsl")] == ["patientsl"]
    with pytest.raises(UserError, match="looks like that of 'patients1'"):
        charged(Ledger(), "patients\u0406")
