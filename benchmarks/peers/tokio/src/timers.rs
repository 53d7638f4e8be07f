use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Relaxed};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task;
use tokio::time::{sleep_until, Instant, Sleep};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn between(&mut self, from: Duration, to: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let range = (to - from).as_nanos();
        from + Duration::from_nanos(((u128::from(x ^ (x >> 31)) * range) >> 64) as u64)
    }
}

pub async fn cancel(n: u64) -> Vec<f64> {
    const TIMES: u32 = 500_000;
    let mut random = Random(1);
    let start = Instant::now();
    let mut timer =
        || sleep_until(start + random.between(Duration::from_secs(60), Duration::from_secs(120)));
    // Unconstrained, for otherwise a task that has used up its budget does not register timers.
    task::unconstrained(async {
        let mut live: Vec<_> = (0..n).map(|_| Box::pin(timer())).collect();
        for timer in &mut live {
            register(timer.as_mut()).await;
        }
        let start = Instant::now();
        for _ in 0..TIMES {
            register(pin!(timer())).await;
        }
        vec![start.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES)]
    })
    .await
}

async fn register(mut timer: Pin<&mut Sleep>) {
    poll_fn(|context| {
        assert!(timer.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await
}

pub async fn fire(n: u64) -> Vec<f64> {
    struct Shared {
        left: AtomicU64,
        worst_ns: AtomicU64,
        done: Notify,
    }
    let shared = Arc::new(Shared {
        left: AtomicU64::new(n),
        worst_ns: AtomicU64::new(0),
        done: Notify::new(),
    });
    let mut random = Random(1);
    let cpu = cpu_time();
    let start = Instant::now();
    for _ in 0..n {
        let deadline =
            start + random.between(Duration::from_millis(1_500), Duration::from_millis(2_500));
        let shared = shared.clone();
        tokio::spawn(async move {
            sleep_until(deadline).await;
            let late = deadline.elapsed().as_nanos() as u64;
            if late > shared.worst_ns.load(Relaxed) {
                shared.worst_ns.fetch_max(late, Relaxed);
            }
            if shared.left.fetch_sub(1, AcqRel) == 1 {
                shared.done.notify_one();
            }
        });
    }
    shared.done.notified().await;
    let cpu = cpu_time() - cpu;
    vec![
        cpu.as_nanos() as f64 / n as f64,
        shared.worst_ns.load(Relaxed) as f64 / 1e6,
    ]
}

/// What the process has used so far.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes `time` and nothing else.
    assert_eq!(
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) },
        0
    );
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
