use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, Mutex};

struct Ping(oneshot::Sender<Pong>);
struct Pong(oneshot::Sender<Ping>);

pub async fn ping_pong_oneshot(n: u64) {
    let (mut pings, first) = oneshot::channel();
    let other = tokio::spawn(async move {
        let mut next: oneshot::Receiver<Ping> = first;
        let mut answered = 0;
        while let Ok(Ping(answer)) = next.await {
            let (sender, receiver) = oneshot::channel();
            next = receiver;
            answered += 1;
            let _ = answer.send(Pong(sender));
        }
        answered
    });
    for _ in 0..n {
        let (sender, receiver) = oneshot::channel();
        let _ = pings.send(Ping(sender));
        let Pong(next) = receiver.await.unwrap();
        pings = next;
    }
    drop(pings);
    assert_eq!(other.await.unwrap(), n);
}

pub async fn ping_pong_mpsc(n: u64) {
    let (pings, mut pinged) = mpsc::channel(1);
    let (pongs, mut ponged) = mpsc::channel(1);
    let other = tokio::spawn(async move {
        while let Some(i) = pinged.recv().await {
            pongs.send(i).await.unwrap();
        }
    });
    for i in 0..n {
        pings.send(i).await.unwrap();
        assert_eq!(ponged.recv().await, Some(i));
    }
    drop(pings);
    other.await.unwrap();
}

pub async fn mpsc(senders: u64, messages: u64) {
    let (sender, mut receiver) = mpsc::channel(1024);
    for _ in 0..senders {
        let sender = sender.clone();
        tokio::spawn(async move {
            for i in 0..messages {
                sender.send(i).await.unwrap();
            }
        });
    }
    drop(sender);
    let mut sum = 0;
    while let Some(i) = receiver.recv().await {
        sum += i;
    }
    assert_eq!(sum, senders * (messages * messages.saturating_sub(1) / 2));
}

pub async fn mutex(tasks: u64, locks: u64) {
    let count = Arc::new(Mutex::new(0));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let count = count.clone();
            tokio::spawn(async move {
                for _ in 0..locks {
                    *count.lock().await += 1;
                }
            })
        })
        .collect();
    let expected = tasks.len() as u64 * locks;
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*count.lock().await, expected);
}
