"""http.client of Python: http_client.py PORT HTTPS_PORT CA_FILE. Says "ok" at its end."""

import http.client
import io
import socket
import ssl
import sys
import urllib.request


def check(holds, *what):
    if not holds:
        sys.exit(" ".join(str(each) for each in what))


def ask(connection, method, target, body=None, headers=None, **more):
    connection.request(method, target, body, headers or {}, **more)
    response = connection.getresponse()
    return response, response.read()


def keeps_one_connection(connection):
    """Whatever is asked: no answer leaves the connection in a state that the next one minds."""
    connection.connect()
    opened = connection.sock
    for _ in range(20):
        response, body = ask(connection, "GET", "/hello")
        check(response.status == 200 and body == b"hello, /hello\n", "GET", body)
        pieces = (b"piece %d, " % i for i in range(1000))
        wanted = b"".join(b"piece %d, " % i for i in range(1000))
        response, body = ask(connection, "POST", "/echo", pieces, encode_chunked=True)
        check(body == wanted, "chunks", len(body))
        response, body = ask(connection, "PUT", "/echo", b"x" * 100_000)
        check(body == b"x" * 100_000, "PUT", len(body))
        response, body = ask(connection, "HEAD", "/files/large")
        check(response.getheader("Content-Length") == str(1 << 20) and body == b"", "HEAD")
        response, body = ask(connection, "GET", "/nowhere")
        check(response.status == 404, "404", response.status)
        response, body = ask(connection, "DELETE", "/hello")
        check(response.status == 405 and "GET" in response.getheader("Allow"), "405")
        response, body = ask(connection, "POST", "/ignore", b"nobody reads this")
        check(response.status == 200, "a body that is not read", response.status)
        check(connection.sock is opened, "another connection")
    response, body = ask(connection, "GET", "/hello", headers={"Connection": "close"})
    check(response.getheader("Connection") == "close" and connection.sock is None, "close")


class Answers(io.BufferedReader):
    """What all answers are read from; each believes that it has a socket of its own."""

    def __init__(self, peer):
        super().__init__(socket.SocketIO(peer, "r"))

    def makefile(self, _mode):
        return self

    def close(self):
        pass


def pipelines(port):
    """Requests of all kinds in one write, and in writes of a few bytes."""
    requests, wanted = [], []
    for i in range(50):
        text = b"body %d" % i
        requests.append(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
        chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text)
        requests.append(b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
        requests.append(b"HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        wanted += [("POST", text), ("POST", text), ("HEAD", b"")]
    requests = b"".join(requests)
    for size in (len(requests), 7):
        with socket.create_connection(("127.0.0.1", port)) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(requests), size):
                peer.sendall(requests[at : at + size])
            answers = Answers(peer)
            for method, text in wanted:
                response = http.client.HTTPResponse(answers, method=method)
                response.begin()
                body = response.read()
                check(response.status == 200 and body == text, "pipelined", response.status, body)


def main():
    port, secure_port, authority = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    trusting = ssl.create_default_context(cafile=authority)
    keeps_one_connection(http.client.HTTPConnection("127.0.0.1", port))
    keeps_one_connection(http.client.HTTPSConnection("localhost", secure_port, context=trusting))
    pipelines(port)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/moved") as answer:
        check(answer.read() == b"hello, /hello\n", "redirected")
    print("ok")


main()
