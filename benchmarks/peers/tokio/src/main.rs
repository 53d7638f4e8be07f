//! The rows of the comparison on Tokio.
//!
//!     tokio-peer --rows
//!     tokio-peer ROW WORKERS N
//!     tokio-peer serve echo|http WORKERS
//!
//! WORKERS 0 is the current-thread runtime.

mod fork_join;
mod latency;
mod memory;
mod serve;
mod sync;
mod tasks;
mod timers;

use std::future::Future;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a row with so many workers and this N, and gives its values.
type Row = fn(usize, u64) -> Vec<f64>;

const NS: f64 = 1e9;
const US: f64 = 1e6;
const MS: f64 = 1e3;

const ROWS: &[(&str, Row)] = &[
    ("fib", |workers, n| {
        let expected = fork_join::fib_value(n);
        timed(
            workers,
            NS / fork_join::fib_calls(n) as f64,
            || async move {
                assert_eq!(fork_join::fib(n).await, expected);
            },
        )
    }),
    ("skynet", |workers, n| {
        timed(
            workers,
            NS / fork_join::skynet_tasks(n) as f64,
            || async move {
                assert_eq!(fork_join::skynet(0, n).await, n * (n - 1) / 2);
            },
        )
    }),
    ("nqueens", |workers, n| {
        let expected = fork_join::QUEENS[n as usize];
        timed(workers, MS, || async move {
            assert_eq!(fork_join::queens([0; 16], 0, n as usize).await, expected);
        })
    }),
    ("matmul", |workers, n| {
        let matrices = fork_join::Matrices::leak(n as usize);
        timed(workers, MS, || matrices.multiply())
    }),
    ("spawn_await", |workers, n| {
        timed(workers, NS / n as f64, || tasks::spawn_await(n))
    }),
    ("spawn_batch", |workers, n| {
        timed(workers, NS / n as f64, || tasks::spawn_batch(n))
    }),
    ("yield", |workers, n| {
        timed(workers, NS / (1_000 * n) as f64, || tasks::yields(1_000, n))
    }),
    ("ping_pong_oneshot", |workers, n| {
        timed(workers, NS / n as f64, || sync::ping_pong_oneshot(n))
    }),
    ("ping_pong_mpsc", |workers, n| {
        timed(workers, NS / n as f64, || sync::ping_pong_mpsc(n))
    }),
    ("mpsc_1x1", |workers, n| {
        timed(workers, NS / n as f64, || sync::mpsc(1, n))
    }),
    ("mpsc_4x1", |workers, n| {
        timed(workers, NS / n as f64, || sync::mpsc(4, n / 4))
    }),
    ("mutex", |workers, n| {
        timed(workers, NS / n as f64, || sync::mutex(8, n / 8))
    }),
    ("timer_cancel", |workers, n| {
        once(workers, timers::cancel(n))
    }),
    ("timer_fire", |workers, n| once(workers, timers::fire(n))),
    ("idle_task_bytes", |workers, n| {
        once(workers, memory::idle_tasks(n))
    }),
    ("sleeping_task_bytes", |workers, n| {
        once(workers, memory::sleeping_tasks(n))
    }),
    ("wake_latency", |workers, n| once(workers, latency::wake(n))),
    ("start_stop", |workers, n| {
        repeated(US / n as f64, || {
            for _ in 0..n {
                once(workers, async {});
            }
        })
    }),
];

fn runtime(workers: usize) -> Runtime {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder
        .worker_threads(workers.max(1))
        .enable_all()
        .build()
        .unwrap()
}

/// Runs the work as a task of a new runtime.
fn once<F>(workers: usize, work: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let runtime = runtime(workers);
    runtime.block_on(runtime.spawn(work)).unwrap()
}

/// The mean time of a repetition of the work as a task, in seconds times `scale`.
fn timed<F>(workers: usize, scale: f64, work: impl Fn() -> F) -> Vec<f64>
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = runtime(workers);
    repeated(scale, || runtime.block_on(runtime.spawn(work())).unwrap())
}

fn repeated(scale: f64, work: impl Fn()) -> Vec<f64> {
    work();
    let start = Instant::now();
    let mut repetitions = 0;
    loop {
        work();
        repetitions += 1;
        let elapsed = start.elapsed();
        if elapsed >= Duration::from_millis(200) {
            return vec![elapsed.as_secs_f64() * scale / f64::from(repetitions)];
        }
    }
}

/// Writes the message and ends with the exit code of a wrong use.
fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| {
        text.parse()
            .unwrap_or_else(|_| fail(&format!("no number: {text}")))
    };
    match arguments[..] {
        ["--rows"] => ROWS.iter().for_each(|(name, _)| println!("{name}")),
        ["serve", "echo", workers] => once(number(workers) as usize, serve::echo()).unwrap(),
        ["serve", "http", workers] => once(number(workers) as usize, serve::http()).unwrap(),
        [row, workers, n] => {
            let Some((_, run)) = ROWS.iter().find(|(name, _)| *name == row) else {
                fail(&format!("no such row: {row}"));
            };
            let values = run(number(workers) as usize, number(n));
            let values: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
            println!("{}", values.join(" "));
        }
        _ => fail("usage: tokio-peer --rows | ROW WORKERS N | serve echo|http WORKERS"),
    }
}
