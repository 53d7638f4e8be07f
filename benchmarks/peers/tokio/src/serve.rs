use memchr::memmem::Finder;
use std::future::Future;
use std::io;
use std::sync::OnceLock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, World!";

/// As many as a buffer can hold requests.
static ANSWERS: OnceLock<Vec<u8>> = OnceLock::new();

pub async fn echo() -> io::Result<()> {
    serve(|mut stream| async move {
        let mut buffer = [0; 4096];
        loop {
            let size = stream.read(&mut buffer).await?;
            if size == 0 {
                return Ok(());
            }
            stream.write_all(&buffer[..size]).await?;
        }
    })
    .await
}

pub async fn http() -> io::Result<()> {
    serve(|mut stream| async move {
        let end_of_request = Finder::new(b"\r\n\r\n");
        let mut buffer = [0; 4096];
        let mut size = 0;
        let answers = ANSWERS.get_or_init(|| ANSWER.repeat(1024));
        loop {
            let read = stream.read(&mut buffer[size..]).await?;
            if read == 0 {
                return Ok(());
            }
            size += read;
            let (mut count, mut answered) = (0, 0);
            for end in end_of_request.find_iter(&buffer[..size]) {
                count += 1;
                answered = end + 4;
            }
            stream.write_all(&answers[..count * ANSWER.len()]).await?;
            buffer.copy_within(answered..size, 0);
            size -= answered;
        }
    })
    .await
}

/// Tells its port, then runs a task for every connection.
async fn serve<F>(connection: fn(TcpStream) -> F) -> io::Result<()>
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(connection(stream));
    }
}
