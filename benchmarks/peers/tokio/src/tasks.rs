use tokio::task;

async fn one() -> u64 {
    1
}

pub async fn spawn_await(n: u64) {
    let mut sum = 0;
    for _ in 0..n {
        sum += tokio::spawn(one()).await.unwrap();
    }
    assert_eq!(sum, n);
}

pub async fn spawn_batch(n: u64) {
    let tasks: Vec<_> = (0..n).map(|_| tokio::spawn(one())).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.unwrap();
    }
    assert_eq!(sum, n);
}

pub async fn yields(tasks: u64, n: u64) {
    let yielding = || async move {
        for _ in 0..n {
            task::yield_now().await;
        }
    };
    let tasks: Vec<_> = (0..tasks).map(|_| tokio::spawn(yielding())).collect();
    for task in tasks {
        task.await.unwrap();
    }
}
