"""Who is measured: how a runtime's program is built, which version it is, how its echo server is
compiled."""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build/release/benchmarks"
NATIVE = ROOT / "build/native"
PEERS = ROOT / "benchmarks/peers"
OUT = ROOT / "build/peers"
CLANG = "clang++-19"
CPU = "-march=native"

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

    def build(self, native=False):
        """What is not built yet. Native: compiled for this machine's CPU."""

    def version(self):
        return ""

    def program(self, native=False):
        raise NotImplementedError

    def folder(self, native=False):
        """Where a peer is built."""
        return OUT / (self.name + "-native" if native else self.name)

    def compile_commands(self, folder, nonce):
        """Those that make an echo server from source, or none."""
        return ()

    @functools.cache
    def rows(self):
        return output(self.program(), "--rows").split()


class Ours(Runtime):
    """Built by ./dev before all this."""

    is_peer = False
    target = ""

    def build(self, native=False):
        if native:
            output("cmake", "--preset", "release", "-B", NATIVE, "--log-level=WARNING", f"-DCMAKE_CXX_FLAGS={CPU}",
                   "-DROUSE_BUILD_TESTS=OFF", "-DROUSE_BUILD_EXAMPLES=OFF", "-DROUSE_BUILD_BENCHMARKS=ON")
            output("cmake", "--build", NATIVE, "--target", f"bench_{self.target}")

    def program(self, native=False):
        return (NATIVE / "benchmarks" if native else PROGRAMS) / self.target


class Rouse(Ours):
    name = label = target = "rouse"

    def version(self):
        header = (ROOT / "include/rouse/version.hpp").read_text()
        return re.search(r'ROUSE_VERSION "([^"]+)"', header).group(1)

    def compile_commands(self, folder, nonce):
        return ((CLANG, "-std=c++20", "-O2", f"-I{ROOT}/include", ROOT / "examples/echo_server.cpp",
                 ROOT / "build/release/librouse.a", "-pthread", "-o", folder / "rouse"),)


class References(Ours):
    name, label, target = "reference", "limit", "references"
    is_reference = True


def locked_version(crate):
    """The one that the peer on Tokio was built with."""
    lock = (PEERS / "tokio/Cargo.lock").read_text()
    return re.search(rf'name = "{crate}"\nversion = "([^"]+)"', lock).group(1)


class Tokio(Runtime):
    def __init__(self, allocator):
        self._mimalloc = allocator == "mimalloc"
        self.name = "tokio-mimalloc" if self._mimalloc else "tokio"
        self.label = "Tokio, mimalloc" if self._mimalloc else "Tokio"
        self.serves = not self._mimalloc  # nothing is allocated for a request

    def build(self, native=False):
        features = ("--features", "mimalloc") if self._mimalloc else ()
        # Newer versions than last time; without a network those of last time will do.
        subprocess.run(("cargo", "update", "--quiet", "--manifest-path", PEERS / "tokio/Cargo.toml"),
                       check=False, stderr=subprocess.DEVNULL)
        flags = {"RUSTFLAGS": "-Ctarget-cpu=native"} if native else None
        self._cargo(self.folder(native), "--bin", "tokio-peer", *features, env=flags)

    def build_binary(self, name):
        """One of its other programs."""
        self._cargo(self.folder(), "--bin", name)

    def version(self):
        found = locked_version("mimalloc" if self._mimalloc else "tokio")
        return found if self._mimalloc else f"{found} (rustc {output('rustc', '--version').split()[1]})"

    def program(self, native=False):
        return self.folder(native) / "release/tokio-peer"

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

    def build(self, native=False):  # its compiler uses what all CPUs have
        output("go", "build", "-o", self.program(), ".", cwd=PEERS / "go")

    def version(self):
        return output("go", "version").split()[2].removeprefix("go")

    def program(self, native=False):
        return self.folder() / "peer"

    def compile_commands(self, folder, nonce):
        # Go knows sources by their content: a new one each time, in a module of its own.
        shutil.copy(PEERS / "go/go.mod", folder)
        source = (PEERS / "go/echo_server/echo_server.go").read_text()
        (folder / "main.go").write_text(f"{source}\n// {nonce}\n")
        return (("sh", "-c", 'cd "$0" && go build -o go .', folder),)


class CMakePeer(Runtime):
    def build(self, native=False):
        folder = self.folder(native)
        output("cmake", "-S", PEERS / self.name, "-B", folder, "-G", "Ninja", "--log-level=WARNING",
               "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS={CPU if native else ''}",
               env={**os.environ, "CXX": CLANG})
        output("cmake", "--build", folder)

    def program(self, native=False):
        return self.folder(native) / f"{self.name}_rows"


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


class Tbb(CMakePeer):
    name, label = "tbb", "TBB"
    serves = False

    def version(self):
        return output("pkg-config", "--modversion", "tbb").strip()


OURS = (Rouse(), References())
PEER_RUNTIMES = (Tokio("default"), Tokio("mimalloc"), Go(), Asio(), Libuv(), Tbb())
