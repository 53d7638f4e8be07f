//! What ./dev bench --service measures on hyper: an HTTP/1.1 server that answers every request with
//! the same text; with a certificate and a key (PEM), over TLS by rustls.
//! usage: service WORKERS [CERTIFICATE KEY]

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{crypto, ServerConfig};
use tokio_rustls::TlsAcceptor;

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Hello, World!")));
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    Ok(response)
}

async fn answer_all<S: AsyncRead + AsyncWrite + Unpin>(stream: S) {
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).pipeline_flush(true);
    // A client that leaves is no error of the server.
    let _ = connection.serve_connection(TokioIo::new(stream), service_fn(hello)).await;
}

/// With tickets, as the other servers have them: rustls keeps sessions in memory by itself.
fn acceptor(certificate: &str, key: &str) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(certificate).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap())
        .unwrap();
    config.ticketer = crypto::ring::Ticketer::new().unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(tls: Option<TlsAcceptor>) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        match tls.clone() {
            None => tokio::spawn(answer_all(stream)),
            Some(tls) => tokio::spawn(async move {
                if let Ok(stream) = tls.accept(stream).await {
                    answer_all(stream).await;
                }
            }),
        };
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (workers, tls) = match arguments[..] {
        [workers] => (workers, None),
        [workers, certificate, key] => (workers, Some(acceptor(certificate, key))),
        _ => {
            eprintln!("usage: service WORKERS [CERTIFICATE KEY]");
            std::process::exit(2)
        }
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.parse().expect("a number of workers"))
        .enable_all()
        .build()?
        .block_on(serve(tls))
}
