use std::future::{pending, Future};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::task;
use tokio::time::sleep;

pub async fn idle_tasks(n: u64) -> Vec<f64> {
    bytes_each(n, pending).await
}

pub async fn sleeping_tasks(n: u64) -> Vec<f64> {
    bytes_each(n, || sleep(Duration::from_secs(3600))).await
}

/// The growth of resident memory for each of n tasks that wait.
async fn bytes_each<F>(n: u64, wait: fn() -> F) -> Vec<f64>
where
    F: Future<Output = ()> + Send + 'static,
{
    static POLLED: AtomicU64 = AtomicU64::new(0);
    let before = resident_bytes();
    for i in 0..n {
        tokio::spawn(async move {
            POLLED.fetch_add(1, Relaxed);
            wait().await;
        });
        if i % 64 == 0 {
            task::yield_now().await; // what grows is their memory, not a queue
        }
    }
    while POLLED.load(Relaxed) < n {
        task::yield_now().await;
    }
    vec![(resident_bytes() - before) / n as f64]
}

fn resident_bytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    // SAFETY: the call has no conditions.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64
}
