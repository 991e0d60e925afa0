"""What the plan page asks beyond a budget: settings of the method, and a key that signs."""

import json

import pytest

from studio_visits import BUDGET, charge, planned, ran, reviewed, spent
from sundog.studio.budget import Budgeted

pytestmark = pytest.mark.usefixtures("at_once")


def test_every_setting_of_a_method_has_a_field(client, data):
    at = reviewed(client, data)
    form = client.post(f"{at}/plan/settings", data={"method": "aim"}, headers={"hx-request": "true"}).text
    assert 'name="set:iterations"' in form
    assert 'name="set:rule.rounds"' in form
    assert "<html" not in form
    assert "has no settings" not in form
    assert 'name="set:iterations"' not in client.post(f"{at}/plan/settings", data={"method": "<b>"}).text


def test_settings_reach_the_run_and_are_checked_before_it(client, data, tmp_path):
    at = reviewed(client, data)
    plan = {**BUDGET, "method": "mst", "folder": str(tmp_path / "out")}
    wrong = client.post(f"{at}/plan", data={**plan, "set:descent.rate": "many", "set:bins.most": "6"})
    assert wrong.status_code == 422
    client.post(f"{at}/plan", data={**plan, "set:bins.most": "6"})
    assert "bins.most" in client.get(f"{at}/run").text
    client.post(f"{at}/run", data=charge(client, at))
    assert json.loads((tmp_path / "out" / "model.json").read_text())["settings"] == {"bins.most": 6}
    assert 'value="6"' in client.get(f"{at}/plan").text


def test_settings_of_measuring_are_left_out_where_measuring_is_over():
    budgeted = Budgeted(rows_about=1, settings={"bins.most": 6, "rows": 50, "rule.rounds": 3})
    assert budgeted.refitting.settings == {"rows": 50}


def test_a_release_is_signed_and_verified_against_the_key(client, data, tmp_path):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    from cryptography.hazmat.primitives import serialization as s

    keys = [ed25519.Ed25519PrivateKey.generate() for _ in range(2)]
    for name, key in zip(("ours", "theirs"), keys, strict=True):
        private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
        (tmp_path / f"{name}.pem").write_bytes(private)
        public = key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
        (tmp_path / f"{name}.pub.pem").write_bytes(public)
    _, release = ran(client, data, tmp_path, sign=str(tmp_path / "ours.pem"))
    assert "certificate.sig" in client.get(release).text
    for name, holds in (("ours", True), ("theirs", False)):
        client.post(f"{release}/verify", data={"key": str(tmp_path / f"{name}.pub.pem")})
        assert ("Nothing differs" in client.get(release).text) == holds


def test_a_key_that_cannot_sign_is_refused_before_anything_is_spent(client, data, tmp_path):
    at = planned(client, data, tmp_path)
    plan = {**BUDGET, "folder": str(tmp_path / "out"), "sign": str(data)}
    assert client.post(f"{at}/plan", data=plan).status_code == 422
    assert "Would be refused" in client.post(f"{at}/plan/try", data=plan).text
    assert spent(tmp_path) == 0


@pytest.mark.parametrize("epsilon", ["5e-324", "1e-40", "-0.0", "nan", "inf", "1e13", "1e300", "-1"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-300", "0.9999999999999999"])
def test_a_budget_without_noise_is_refused_where_it_is_asked(client, data, tmp_path, epsilon, delta):
    at = reviewed(client, data)
    plan = {**BUDGET, "epsilon": epsilon, "delta": delta, "confirmed": "1", "folder": str(tmp_path / "out")}
    answer = client.post(f"{at}/plan", data=plan)
    allowed = epsilon in ("5e-324", "1e-40") and delta != "1e-300"  # all of delta, and next to no epsilon
    assert answer.status_code == (200 if allowed else 422)
    assert spent(tmp_path) == 0
