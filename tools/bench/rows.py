"""What is measured. benchmarks/README.md says what each row does."""

from dataclasses import dataclass, field
from typing import Callable


@dataclass(frozen=True)
class Value:
    """One of the figures that a row gives."""

    suffix: str  # of the row's name
    title: str
    unit: str
    higher_is_better: bool = False


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    group: str
    values: tuple
    n: int = 0
    quick_n: int = 0
    workers: tuple = (1, 2)
    kind: str = "program"  # or "server", "compile"
    load: dict = field(default_factory=dict)  # of a server
    native: bool = False  # of programs that are compiled for this very machine
    runs: str = ""  # the row of the programs, if not `name`
    factor: Callable = lambda n: 1  # of what they print, with the size n
    without: tuple = ()  # runtimes that would take minutes

    def program_row(self):
        return self.runs or self.name


def _row(group, name, title, unit, n, quick_n=None, workers=(1, 2)):
    return Row(name, title, group, (Value("", "", unit),), n, quick_n or n, workers)


def _published(name, title, runs, n, quick_n, factor=lambda n: 1, without=()):
    return Row(name, title, "Fork/join, whole programs", (Value("", "", "ms"),), n, quick_n, native=True, runs=runs,
               factor=factor, without=without)


def _fib_calls_in_ms(n):
    calls, next_calls = 1, 1
    for _ in range(n):
        calls, next_calls = next_calls, calls + next_calls + 1
    return calls / 1e6


def _skynet_tasks_in_ms(leaves):
    return (10 * leaves - 1) // 9 / 1e6


def _server(name, title, **load):
    values = [Value("", "CPU of the server", "us/request"),
              Value("_rate", "throughput", "requests/s", higher_is_better=True)]
    if "depth" not in load:  # wrk's latencies are those of single requests
        values.append(Value("_p99", "latency p99", "us"))
    return Row(name, title, "Servers", tuple(values), workers=(0, 1, 2), kind="server", load=load)


def _latency(rate):
    values = (Value("_p50", "p50", "us"), Value("_p99", "p99", "us"), Value("_p999", "p99.9", "us"))
    return Row(f"echo_at_{rate}", f"echo, {rate:,} requests/s", "Latency at a fixed rate", values, kind="server",
               load={"connections": 50, "rate": rate, "seconds": 2})


MILLION = 1_000_000

ROWS = (
    _row("Fork/join", "fib", "fib(27), a call", "ns", 27),
    _row("Fork/join", "skynet", "skynet, a million leaves, a task", "ns", MILLION, MILLION // 10),
    _row("Fork/join", "nqueens", "11 queens", "ms", 11, 10),
    _row("Fork/join", "matmul", "512 x 512 matrices", "ms", 512, 256),

    _published("fib_37", "fib(37)", "fib", 37, 27, _fib_calls_in_ms, without=("tokio", "tokio-mimalloc", "go")),
    _published("skynet_10m", "skynet, 10 million leaves", "skynet", 10 * MILLION, MILLION, _skynet_tasks_in_ms,
               without=("tokio", "tokio-mimalloc", "go")),
    _published("nqueens_13", "13 queens", "nqueens", 13, 10, without=("go",)),
    _published("matmul_1024", "1,024 x 1,024 matrices", "matmul", 1024, 256),

    _row("Tasks", "spawn_await", "spawn and await, one at a time", "ns", 100_000),
    _row("Tasks", "spawn_batch", "spawn a million, then await all, each", "ns", MILLION, MILLION // 10),
    _row("Tasks", "yield", "yield, over 1,000 tasks", "ns", 1000, 200),
    _row("Tasks", "yield_watched", "the same, watched by sight", "ns", 1000, 200),
    _row("Tasks", "dump", "dump of a million idle tasks", "ms", MILLION, MILLION // 10),
    _row("Tasks", "child_await", "await of a child coroutine", "ns", 10_000, workers=(1,)),
    _row("Tasks", "ready_await", "await of a future that is ready", "ns", 10_000, workers=(1,)),
    _row("Tasks", "pending_poll", "poll of a coroutine 1,000 deep", "ns", 10_000, workers=(1,)),
    _row("Tasks", "generator_next", "next value of a generator", "ns", 10_000, workers=(1,)),
    Row("wake_latency", "wake from another thread", "Tasks",
        (Value("_p50", "p50", "us"), Value("_p99", "p99", "us")), 2000, 500),
    _row("Tasks", "start_stop", "start and stop of a runtime", "us", 200, 50),

    _row("Channels and locks", "ping_pong_oneshot", "round trip over two oneshots", "ns", 100_000),
    _row("Channels and locks", "ping_pong_mpsc", "round trip over two mpsc channels", "ns", 100_000),
    _row("Channels and locks", "mpsc_1x1", "mpsc, 1 sender, a message", "ns", MILLION, MILLION // 10),
    _row("Channels and locks", "mpsc_4x1", "mpsc, 4 senders, a message", "ns", MILLION, MILLION // 10),
    _row("Channels and locks", "mutex", "mutex, 8 tasks, a lock", "ns", MILLION, MILLION // 10),

    _row("Timers", "timer_cancel", "create + cancel, a million live", "ns", MILLION, MILLION // 10),
    Row("timer_fire", "a million tasks that sleep", "Timers",
        (Value("_cpu", "CPU each", "ns"), Value("_late", "worst lateness", "ms")), MILLION, MILLION // 10),

    _row("Memory", "idle_task_bytes", "idle task", "bytes", 200_000, workers=(1,)),
    _row("Memory", "sleeping_task_bytes", "sleeping task", "bytes", 200_000, workers=(1,)),

    _server("echo_50", "echo, 50 connections", connections=50),
    _server("echo_1000", "echo, 1,000 connections", connections=1000),
    _server("echo_5000", "echo, 5,000 connections", connections=5000),
    _server("http_64", "HTTP keep-alive, 64 connections", connections=64, http=True),
    _server("http_512", "HTTP keep-alive, 512 connections", connections=512, http=True),
    _server("http_pipelined_64", "HTTP, 16 pipelined, 64 connections", connections=64, http=True, depth=16),
    _server("http_pipelined_512", "HTTP, 16 pipelined, 512 connections", connections=512, http=True, depth=16),

    _latency(10_000),
    _latency(50_000),

    Row("compile", "echo server, compiled and linked", "Compile time",
        (Value("", "", "s"),), workers=(1,), kind="compile"),
)
