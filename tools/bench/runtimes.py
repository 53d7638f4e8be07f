"""Who is measured: how a runtime's program is built, which version it is, how its echo server is
compiled."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build/release/benchmarks"
PEERS = ROOT / "benchmarks/peers"
OUT = ROOT / "build/peers"
CLANG = "clang++-19"

NOT_WITH_SO_MANY_WORKERS = 3  # the exit code of a program


def output(*command, cwd=ROOT, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, cwd=cwd,
                          stdout=subprocess.PIPE, **options).stdout


class Runtime:
    name = ""
    label = ""
    is_peer = True
    is_reference = False
    serves = True

    def build(self):
        """What is not built yet."""

    def version(self):
        return ""

    def program(self):
        raise NotImplementedError

    def compile_commands(self, folder, nonce):
        """Those that make an echo server from source, or none."""
        return ()

    def rows(self):
        return output(self.program(), "--rows").split()


class Rouse(Runtime):
    name = label = "rouse"
    is_peer = False

    def version(self):
        header = (ROOT / "include/rouse/version.hpp").read_text()
        return re.search(r'ROUSE_VERSION "([^"]+)"', header).group(1)

    def program(self):
        return PROGRAMS / "rouse"

    def compile_commands(self, folder, nonce):
        return ((CLANG, "-std=c++20", "-O2", f"-I{ROOT}/include", ROOT / "examples/echo_server.cpp",
                 ROOT / "build/release/librouse.a", "-pthread", "-o", folder / "rouse"),)


class References(Runtime):
    name, label = "reference", "limit"
    is_peer = False
    is_reference = True

    def program(self):
        return PROGRAMS / "references"


class Tokio(Runtime):
    def __init__(self, allocator):
        self._mimalloc = allocator == "mimalloc"
        self.name = "tokio-mimalloc" if self._mimalloc else "tokio"
        self.label = "Tokio, mimalloc" if self._mimalloc else "Tokio"
        self.serves = not self._mimalloc  # nothing is allocated for a request
        self._target = OUT / self.name

    def build(self):
        features = ("--features", "mimalloc") if self._mimalloc else ()
        # Newer versions than last time; without a network those of last time will do.
        subprocess.run(("cargo", "update", "--quiet", "--manifest-path", PEERS / "tokio/Cargo.toml"),
                       check=False, stderr=subprocess.DEVNULL)
        self._cargo(self._target, "--bin", "tokio-peer", *features)

    def version(self):
        lock = (PEERS / "tokio/Cargo.lock").read_text()
        crate = "mimalloc" if self._mimalloc else "tokio"
        found = re.search(rf'name = "{crate}"\nversion = "([^"]+)"', lock).group(1)
        return found if self._mimalloc else f"{found} (rustc {output('rustc', '--version').split()[1]})"

    def program(self):
        return self._target / "release/tokio-peer"

    def compile_commands(self, folder, nonce):
        if self._mimalloc:
            return ()
        # With cargo's own release profile; the first build also makes the dependencies.
        target = OUT / "tokio-compile"
        self._cargo(target, "--bin", "echo_server", env=self._plain_profile())
        os.utime(PEERS / "tokio/src/bin/echo_server.rs")
        return (("env", *[f"{key}={value}" for key, value in self._plain_profile().items()],
                 *self._command(target, "--bin", "echo_server")),)

    @staticmethod
    def _plain_profile():
        return {"CARGO_PROFILE_RELEASE_LTO": "false", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
                "CARGO_PROFILE_RELEASE_PANIC": "unwind"}

    @staticmethod
    def _command(target, *arguments):
        return ("cargo", "build", "--quiet", "--release", "--target-dir", target,
                "--manifest-path", PEERS / "tokio/Cargo.toml", *arguments)

    def _cargo(self, target, *arguments, env=None):
        output(*self._command(target, *arguments), env={**os.environ, **(env or {})})


class Go(Runtime):
    name, label = "go", "Go"

    def build(self):
        output("go", "build", "-o", self.program(), ".", cwd=PEERS / "go")

    def version(self):
        return output("go", "version").split()[2].removeprefix("go")

    def program(self):
        return OUT / "go/peer"

    def compile_commands(self, folder, nonce):
        # Go knows sources by their content: a new one each time, in a module of its own.
        shutil.copy(PEERS / "go/go.mod", folder)
        source = (PEERS / "go/echo_server/echo_server.go").read_text()
        (folder / "main.go").write_text(f"{source}\n// {nonce}\n")
        return (("sh", "-c", 'cd "$0" && go build -o go .', folder),)


class CMakePeer(Runtime):
    def build(self):
        folder = OUT / self.name
        output("cmake", "-S", PEERS / self.name, "-B", folder, "-G", "Ninja", "--log-level=WARNING",
               "-DCMAKE_BUILD_TYPE=Release", env={**os.environ, "CXX": CLANG})
        output("cmake", "--build", folder)

    def program(self):
        return OUT / self.name / f"{self.name}_rows"


class Asio(CMakePeer):
    name, label = "asio", "Asio"

    def version(self):
        macro = output(CLANG, "-E", "-x", "c++", "-", input="#include <boost/asio/version.hpp>\nBOOST_ASIO_VERSION\n")
        number = int(macro.split()[-1])
        return f"{number // 100000}.{number // 100 % 1000}.{number % 100} (Boost)"

    def compile_commands(self, folder, nonce):
        return ((CLANG, "-std=c++20", "-O2", PEERS / "asio/echo_server.cpp", "-pthread", "-o", folder / "asio"),)


class Libuv(CMakePeer):
    name, label = "libuv", "libuv"

    def version(self):
        return output("pkg-config", "--modversion", "libuv").strip()

    def compile_commands(self, folder, nonce):
        return (("clang-19", "-O2", PEERS / "libuv/echo_server.c", "-luv", "-o", folder / "libuv"),)


OURS = (Rouse(), References())
PEER_RUNTIMES = (Tokio("default"), Tokio("mimalloc"), Go(), Asio(), Libuv())
