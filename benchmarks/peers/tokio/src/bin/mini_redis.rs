//! The hot part of examples/tutorial/mini_redis.cpp on Tokio: the same parser, the same sharded
//! store, the same end, one write for the replies to all commands that have come.
//! usage: mini_redis ADDRESS WORKERS

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

// --- The parser: goes on where it stopped. ---

const MAX_ARGS: i64 = 1024 * 1024;
const MAX_BULK: i64 = 64 * 1024 * 1024;
const MAX_LINE: usize = 64 * 1024;

#[derive(Default)]
struct Parser {
    words: Vec<(usize, usize)>,
    expected: usize,
    position: usize,
}

enum Found {
    Command(usize),
    NothingYet,
    Mistake(&'static str),
}

enum Number {
    Is(i64),
    NotWhole,
    Bad,
}

impl Parser {
    fn next(&mut self, input: &[u8]) -> Found {
        match input.first() {
            None => Found::NothingYet,
            Some(b'*') => self.array_of_words(input),
            Some(_) => self.line_of_words(input),
        }
    }

    fn array_of_words(&mut self, input: &[u8]) -> Found {
        if self.expected == 0 {
            self.words.clear();
            self.position = 1;
            match self.number_line(input) {
                Number::Is(count) if count > MAX_ARGS => return Found::Mistake("invalid multibulk length"),
                Number::Is(count) if count <= 0 => return self.finish(self.position),
                Number::Is(count) => self.expected = count as usize,
                Number::NotWhole => return Found::NothingYet,
                Number::Bad => return Found::Mistake("invalid multibulk length"),
            }
        }
        while self.words.len() < self.expected {
            let start = self.position;
            match input.get(start) {
                None => return Found::NothingYet,
                Some(b'$') => self.position += 1,
                Some(_) => return Found::Mistake("expected '$'"),
            }
            let length = match self.number_line(input) {
                Number::Is(size) if (0..=MAX_BULK).contains(&size) => size as usize,
                Number::NotWhole => {
                    self.position = start;
                    return Found::NothingYet;
                }
                _ => return Found::Mistake("invalid bulk length"),
            };
            if input.len() - self.position < length + 2 {
                self.position = start;
                return Found::NothingYet;
            }
            self.words.push((self.position, length));
            self.position += length + 2;
        }
        self.finish(self.position)
    }

    fn line_of_words(&mut self, input: &[u8]) -> Found {
        let Some(end) = input[self.position..].iter().position(|&byte| byte == b'\n') else {
            self.position = input.len();
            return if self.position > MAX_LINE { Found::Mistake("too big inline request") } else { Found::NothingYet };
        };
        let end = end + self.position;
        self.words.clear();
        let mut i = 0;
        while i < end {
            while i < end && (input[i] == b' ' || input[i] == b'\r') {
                i += 1;
            }
            let begin = i;
            while i < end && input[i] != b' ' && input[i] != b'\r' {
                i += 1;
            }
            if i > begin {
                self.words.push((begin, i - begin));
            }
        }
        self.finish(end + 1)
    }

    fn number_line(&mut self, input: &[u8]) -> Number {
        let rest = &input[self.position..];
        let negative = rest.first() == Some(&b'-');
        let mut i = usize::from(negative);
        let mut number: i64 = 0;
        while i < rest.len() && i < 19 && rest[i].is_ascii_digit() {
            number = number.wrapping_mul(10).wrapping_add(i64::from(rest[i] - b'0'));
            i += 1;
        }
        if i == rest.len() || (i + 1 == rest.len() && rest[i] == b'\r') {
            return if rest.len() < 20 { Number::NotWhole } else { Number::Bad };
        }
        if i == usize::from(negative) || rest[i] != b'\r' || rest[i + 1] != b'\n' {
            return Number::Bad;
        }
        self.position += i + 2;
        Number::Is(if negative { -number } else { number })
    }

    fn finish(&mut self, consumed: usize) -> Found {
        self.expected = 0;
        self.position = 0;
        Found::Command(consumed)
    }
}

// --- The store: 64 shards behind locks. ---

/// Eight bytes at a time; std's own hash costs three times as much.
#[derive(Default)]
struct TextHasher(u64);

impl Hasher for TextHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(u64::from_le_bytes(chunk.try_into().unwrap()));
        }
        let mut last = [0; 8];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.add(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

impl TextHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

enum Value {
    Text(Vec<u8>),
    #[allow(dead_code)]
    List(std::collections::VecDeque<Vec<u8>>),
}

struct Entry {
    value: Value,
    dies: Option<Instant>,
}

type Table = HashMap<Vec<u8>, Entry, BuildHasherDefault<TextHasher>>;

#[derive(Default)]
struct Shard {
    table: Table,
    deadlines: BTreeMap<(Instant, Vec<u8>), ()>,
}

#[repr(align(64))]
#[derive(Default)]
struct Locked(Mutex<Shard>);

struct Shared {
    shards: Vec<Locked>,
    stop: Notify,
}

impl Shared {
    fn shard(&self, key: &[u8]) -> std::sync::MutexGuard<'_, Shard> {
        let mut hasher = TextHasher::default();
        hasher.write(key);
        self.shards[(hasher.finish() >> 58) as usize].0.lock().unwrap()
    }
}

// --- Commands. ---

fn add_head(out: &mut Vec<u8>, kind: u8, number: i64) {
    let mut digits = [0; 24];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.push(kind);
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
    out.extend_from_slice(b"\r\n");
}

fn add_bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    add_head(out, b'$', bytes.len() as i64);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// An entry whose time has not come.
fn find<'a>(table: &'a mut Table, key: &[u8]) -> Option<&'a mut Entry> {
    if table.get(key)?.dies.is_some_and(|dies| dies <= Instant::now()) {
        table.remove(key);
        return None;
    }
    table.get_mut(key)
}

fn get(shared: &Shared, key: &[u8], out: &mut Vec<u8>) {
    let mut shard = shared.shard(key);
    let table = &mut shard.table;
    match table.get(key) {
        None => out.extend_from_slice(b"$-1\r\n"),
        Some(entry) if entry.dies.is_some_and(|dies| dies <= Instant::now()) => {
            table.remove(key);
            out.extend_from_slice(b"$-1\r\n");
        }
        Some(Entry { value: Value::Text(text), .. }) => add_bulk(out, text),
        Some(_) => out.extend_from_slice(b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"),
    }
}

fn set(shared: &Shared, key: &[u8], text: &[u8], out: &mut Vec<u8>) {
    let mut shard = shared.shard(key);
    let table = &mut shard.table;
    match find(table, key) {
        Some(Entry { value: Value::Text(old), dies }) => {
            old.clear();
            old.extend_from_slice(text);
            *dies = None;
        }
        _ => {
            table.insert(key.to_vec(), Entry { value: Value::Text(text.to_vec()), dies: None });
        }
    }
    out.extend_from_slice(b"+OK\r\n");
}

fn incr(shared: &Shared, key: &[u8], out: &mut Vec<u8>) {
    let mut shard = shared.shard(key);
    let table = &mut shard.table;
    let Value::Text(text) =
        &mut table.entry(key.to_vec()).or_insert(Entry { value: Value::Text(Vec::new()), dies: None }).value
    else {
        return out.extend_from_slice(b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    };
    let before = std::str::from_utf8(text).ok().and_then(|text| if text.is_empty() { Some(0) } else { text.parse().ok() });
    match before.and_then(|number: i64| number.checked_add(1)) {
        None => out.extend_from_slice(b"-ERR value is not an integer or out of range\r\n"),
        Some(after) => {
            text.clear();
            text.extend_from_slice(after.to_string().as_bytes());
            add_head(out, b':', after);
        }
    }
}

/// False: the client quits.
fn execute(shared: &Shared, input: &[u8], words: &[(usize, usize)], out: &mut Vec<u8>) -> bool {
    let word = |i: usize| &input[words[i].0..words[i].0 + words[i].1];
    let mut name = [0; 16];
    let size = words[0].1.min(16);
    name[..size].copy_from_slice(&word(0)[..size]);
    name[..size].make_ascii_uppercase();
    match (&name[..size], words.len()) {
        (b"GET", 2) => get(shared, word(1), out),
        (b"SET", 3) => set(shared, word(1), word(2), out),
        (b"INCR", 2) => incr(shared, word(1), out),
        (b"PING", 1) => out.extend_from_slice(b"+PONG\r\n"),
        (b"CONFIG", _) => out.extend_from_slice(b"*0\r\n"),
        (b"COMMAND", _) => out.extend_from_slice(b"*0\r\n"),
        (b"SHUTDOWN", _) => shared.stop.notify_waiters(),
        (b"QUIT", _) => {
            out.extend_from_slice(b"+OK\r\n");
            return false;
        }
        _ => out.extend_from_slice(b"-ERR unknown command\r\n"),
    }
    true
}

// --- Connections. ---

const REPLIES: usize = 64 * 1024;

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut parser = Parser::default();
    let mut input = vec![0; 8 * 1024];
    let (mut begin, mut end) = (0, 0);
    let mut replies = Vec::new();
    let stopped = shared.stop.notified();
    tokio::pin!(stopped);
    loop {
        let mut has_more = true;
        let mut is_over = false;
        while !is_over && replies.len() < REPLIES {
            match parser.next(&input[begin..end]) {
                Found::NothingYet => {
                    has_more = false;
                    break;
                }
                Found::Mistake(why) => {
                    replies.extend_from_slice(format!("-ERR Protocol error: {why}\r\n").as_bytes());
                    is_over = true;
                }
                Found::Command(consumed) => {
                    if !parser.words.is_empty() {
                        is_over = !execute(&shared, &input[begin..end], &parser.words, &mut replies);
                        parser.words.clear();
                    }
                    begin += consumed;
                }
            }
        }
        if begin == end {
            (begin, end) = (0, 0);
        }
        if !replies.is_empty() {
            tokio::time::timeout(Duration::from_secs(30), stream.write_all(&replies)).await??;
            replies.clear();
        }
        if is_over {
            return Ok(());
        }
        if has_more {
            continue;
        }
        if end == input.len() {
            if begin >= input.len() / 2 {
                input.copy_within(begin..end, 0);
                (begin, end) = (0, end - begin);
            } else {
                input.resize(2 * input.len(), 0);
            }
        }
        let read = tokio::select! {
            biased;
            () = &mut stopped => return Ok(()),
            read = stream.read(&mut input[end..]) => read?,
        };
        if read == 0 {
            return Ok(());
        }
        end += read;
    }
}

/// Removes entries whose time is up, as the original does.
async fn sweep(shared: Arc<Shared>) {
    let mut every = tokio::time::interval(Duration::from_millis(100));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        for shard in &shared.shards {
            let mut shard = shard.0.lock().unwrap();
            let now = Instant::now();
            while shard.deadlines.first_key_value().is_some_and(|((dies, _), ())| *dies <= now) {
                let ((dies, key), ()) = shard.deadlines.pop_first().unwrap();
                if shard.table.get(&key).is_some_and(|entry| entry.dies == Some(dies)) {
                    shard.table.remove(&key);
                }
            }
        }
    }
}

async fn listen(address: String) -> std::io::Result<()> {
    let shared = Arc::new(Shared { shards: (0..64).map(|_| Locked::default()).collect(), stop: Notify::new() });
    let listener = TcpListener::bind(address).await?;
    tokio::spawn(sweep(shared.clone()));
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream, shared.clone()));
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let workers = arguments[2].parse().expect("usage: mini_redis ADDRESS WORKERS");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(async { tokio::spawn(listen(arguments[1].clone())).await.unwrap() })
}
