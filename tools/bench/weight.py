"""What rouse costs a user's compiler: seconds of CPU, lines to read, and the size of what comes out.
The least of several runs counts: other work on the machine only adds."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from runtimes import CLANG, ROOT

COMPILERS = (CLANG, "g++-12")
ECHO = (ROOT / "examples/echo_server.cpp").read_text()
HELLO = (ROOT / "examples/hello.cpp").read_text()
STORE = (ROOT / "benchmarks/weight/store.cpp").read_text()
NEEDED = "".join(f"#include <rouse/{name}.hpp>\n"
                 for name in ("core/async", "exec/spawner", "net/tcp_listener", "net/tcp_stream", "runtime/run"))
MODULE = ROOT / "include/rouse/rouse.cppm"
IMPORTED = ECHO.replace("#include <rouse/rouse.hpp>\n", "import rouse;\n")
PROGRAMS = {
    "rouse.hpp": "#include <rouse/rouse.hpp>\n",
    "net/tcp_stream.hpp": "#include <rouse/net/tcp_stream.hpp>\n",
    "core/async.hpp": "#include <rouse/core/async.hpp>\n",
    "echo server, rouse.hpp": ECHO,
    "echo server, only the headers it needs": re.sub(r"#include <rouse/rouse.hpp>\n", NEEDED, ECHO),
    # What the compiler makes of its coroutines is the difference of these two.
    "a store: a dozen coroutines in 200 lines": STORE,
    "a store: only what it includes": "".join(re.findall(r"#include .*\n", STORE)),
}


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def seconds(rounds, *command):
    def once():
        before = os.times().children_user
        run(*command)
        return os.times().children_user - before
    return round(min(once() for _ in range(rounds)), 2)


def compiled(title, compiler, rounds, source, output, *flags):
    command = (compiler, "-std=c++20", "-O2", f"-I{ROOT}/include", *flags)
    text = run(*command, "-E", "-P", source)
    row = {"row": title, "compiler": compiler,
           "seconds": seconds(rounds, *command, "--precompile" if output.suffix == ".pcm" else "-c", source, "-o", output),
           "lines": sum(1 for line in text.splitlines() if line.strip())}
    # Of an object file what is loaded and not written: code, constants, and how to unwind.
    code = 0 if output.suffix == ".pcm" else int(run("size", output).splitlines()[1].split()[0])
    return {**row, "code": code}


def stripped_bytes(folder, name, text):
    """Of a program with the library of the release build, which is clang's."""
    source, program = folder / f"{name}.cpp", folder / name
    source.write_text(text)
    run(CLANG, "-std=c++20", "-O2", f"-I{ROOT}/include", source, ROOT / "build/release/librouse.a",
        "-pthread", "-Wl,--gc-sections", "-s", "-o", program)
    return program.stat().st_size


def measured(rounds):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, text in PROGRAMS.items():
            source = folder / "program.cpp"
            source.write_text(text)
            for compiler in COMPILERS:
                yield compiled(title, compiler, rounds, source, folder / "program.o")
        source.write_text(IMPORTED)
        pcm = folder / "rouse.pcm"
        yield compiled("rouse.cppm, once a project", CLANG, rounds, MODULE, pcm)
        yield compiled("echo server, import rouse", CLANG, rounds, source, folder / "program.o", f"-fmodule-file=rouse={pcm}")
        for title, text in (("hello", HELLO), ("echo server", ECHO)):
            yield {"row": f"{title}, stripped", "compiler": CLANG,
                   "bytes": stripped_bytes(folder, title.replace(" ", "_"), text)}


def run_rows(rounds, as_json):
    for row in measured(rounds):
        if as_json:
            print(json.dumps(row), flush=True)
        elif "bytes" in row:
            print(f"{row['row']:40} {row['compiler']:12} {row['bytes']:10} bytes", flush=True)
        else:
            print(f"{row['row']:40} {row['compiler']:12} {row['seconds']:8.2f} s {row['lines']:8} lines "
                  f"{row['code']:8} bytes of code", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run_rows(5, False))
