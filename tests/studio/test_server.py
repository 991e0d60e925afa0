"""Starting and ending the studio, as a terminal does it."""

import json
import os
import signal
import socket
import time
import urllib.request
from pathlib import Path

import pytest

from studio_browser import started


@pytest.fixture
def studio(tmp_path):
    running = started(tmp_path / "studio")
    yield running
    running.end(signal.SIGKILL)


def test_it_is_there_on_loopback_alone_and_its_address_is_for_its_owner(studio):
    with urllib.request.urlopen(studio.address) as answer:
        assert answer.status == 200
        assert "uvicorn" not in str(answer.headers).lower()
    place = studio.folder / "home" / "studio.json"
    assert json.loads(place.read_text())["address"] == studio.address
    assert place.stat().st_mode & 0o077 == 0
    assert (studio.folder / "home").stat().st_mode & 0o077 == 0
    outside = next((a for a in socket.gethostbyname_ex(socket.gethostname())[2] if not a.startswith("127.")), None)
    if outside is not None:
        with pytest.raises(OSError, match=r".*"), socket.create_connection((outside, studio.port), timeout=2):
            pass


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads CPU seconds as Linux tells them")
def test_it_starts_in_less_than_two_seconds(studio):
    """CPU seconds, since other work on the machine takes wall time; of this process, until it tells its address."""
    ticks = Path(f"/proc/{studio.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    assert sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") < 2


def test_a_second_start_finds_the_first(studio):
    second = started(studio.folder)
    assert second.address == studio.address
    assert second.process.wait(timeout=600) == 0
    second.process.stdout.close()
    assert studio.process.poll() is None


def test_ctrl_c_ends_it_without_a_trace(studio):
    assert studio.end(signal.SIGINT) == 0
    assert not (studio.folder / "home" / "studio.json").exists()
    again = started(studio.folder)
    assert again.address != studio.address
    assert again.end(signal.SIGINT) == 0


def test_a_port_that_is_taken_is_told(studio, tmp_path, capfd):
    with pytest.raises(RuntimeError, match="did not start"):
        started(tmp_path / "other", "--port", str(studio.port))
    assert "cannot be used" in capfd.readouterr().err


def test_no_program_is_started_with_the_token(tmp_path):
    """Everyone on the machine can read how a program was started: a browser gets the path of a page that its owner alone can read."""
    seen = tmp_path / "seen"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$@" >> {seen}\n')
    script.chmod(0o755)
    running = started(tmp_path / "studio", "--browser", environment={"BROWSER": str(script)})
    try:
        until = time.monotonic() + 600
        while not (seen.exists() and seen.read_text().endswith("\n")) and time.monotonic() < until:
            time.sleep(0.05)
        token = running.address.partition("token=")[2]
        door = running.folder / "home" / "enter.html"
        assert seen.read_text().strip() == door.as_uri()
        assert door.stat().st_mode & 0o077 == 0
        assert f'value="{token}"' in door.read_text()
        again = started(running.folder, "--browser", environment={"BROWSER": str(script)})
        assert again.process.wait(timeout=600) == 0
        again.process.stdout.close()
        assert seen.read_text().split() == [door.as_uri()] * 2
    finally:
        running.end(signal.SIGINT)
    assert not door.exists()


def test_clients_that_send_nothing_do_not_keep_others_out(studio):
    begun = [socket.create_connection(("127.0.0.1", studio.port)) for _ in range(120)]
    try:
        for number, connection in enumerate(begun):
            if number % 2:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        for connection in begun:
            connection.settimeout(60)
            assert connection.recv(1) == b""
        with urllib.request.urlopen(studio.address, timeout=600) as answer:
            assert answer.status == 200
    finally:
        for connection in begun:
            connection.close()


def test_a_folder_of_others_is_refused(tmp_path, capfd):
    shared = tmp_path / "studio" / "home"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    with pytest.raises(RuntimeError, match="did not start"):
        started(tmp_path / "studio")
    assert "other users of this machine" in capfd.readouterr().err
