use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// p50 and p99 of the time from a wake by a thread of its own until the task runs.
pub async fn wake(n: u64) -> Vec<f64> {
    let start = Instant::now();
    let now = move || start.elapsed().as_nanos() as u64;
    let notify = Arc::new(Notify::new());
    let ran_at = Arc::new(AtomicU64::new(0));

    let (waking, noted) = (notify.clone(), ran_at.clone());
    // It waits for the task without a CPU: spinning, it would be in the way of who was woken.
    let thread = thread::spawn(move || {
        let wake = |_| {
            thread::sleep(Duration::from_micros(200));
            noted.store(0, Release);
            let woken_at = now();
            waking.notify_one();
            loop {
                match noted.load(Acquire) {
                    0 => thread::park(),
                    at => return (at - woken_at) as f64 / 1e3,
                }
            }
        };
        (0..n).map(wake).collect()
    });
    for _ in 0..n {
        notify.notified().await;
        ran_at.store(now(), Release);
        thread.thread().unpark();
    }
    let mut times: Vec<f64> = thread.join().unwrap();
    times.sort_by(f64::total_cmp);
    vec![times[times.len() / 2], times[times.len() * 99 / 100]]
}
