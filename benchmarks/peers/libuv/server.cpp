#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <uv.h>

#include "rows.hpp"
#include "support/http.hpp"

namespace {

struct Connection {
  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&socket); }
  void close() {
    uv_close(reinterpret_cast<uv_handle_t*>(&socket),
             [](uv_handle_t* handle) { delete static_cast<Connection*>(handle->data); });
  }

  uv_tcp_t socket;
  uv_write_t request;
  std::size_t size = 0;  // of what was read and not answered yet
  std::array<char, 4096> buffer;
};

void give_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
  auto& connection = *static_cast<Connection*>(handle->data);
  buffer->base = connection.buffer.data() + connection.size;
  buffer->len = connection.buffer.size() - connection.size;
}

template <bool with_http>
void read_some(uv_stream_t* stream, ssize_t n, const uv_buf_t* read);

template <bool with_http>
void on_written(uv_write_t* request, int failed) {
  auto& connection = *static_cast<Connection*>(request->handle->data);
  if (failed != 0) return connection.close();
  uv_read_start(connection.stream(), give_buffer, read_some<with_http>);
}

/// At once if the socket takes it; otherwise nothing is read until it is written.
template <bool with_http>
void write_all(Connection& connection, char* data, std::size_t size) {
  uv_buf_t buffer = uv_buf_init(data, static_cast<unsigned>(size));
  const int written = uv_try_write(connection.stream(), &buffer, 1);
  if (written < 0 && written != UV_EAGAIN) return connection.close();
  const std::size_t done = written < 0 ? 0 : static_cast<std::size_t>(written);
  if (done == size) return;
  buffer = uv_buf_init(data + done, static_cast<unsigned>(size - done));
  uv_read_stop(connection.stream());
  uv_write(&connection.request, connection.stream(), &buffer, 1, on_written<with_http>);
}

template <bool with_http>
void read_some(uv_stream_t* stream, ssize_t n, const uv_buf_t* read) {
  auto& connection = *static_cast<Connection*>(stream->data);
  if (n < 0) return connection.close();
  if (n == 0) return;
  if constexpr (with_http) {
    static std::string answers = bench::http_answers();
    connection.size += static_cast<std::size_t>(n);
    char* const data = connection.buffer.data();
    const bench::Requests found = bench::find_requests({data, connection.size});
    connection.size -= found.size;
    std::memmove(data, data + found.size, connection.size);
    if (found.count == 0) return;
    write_all<true>(connection, answers.data(), found.count * bench::http_answer.size());
  } else {
    write_all<false>(connection, read->base, static_cast<std::size_t>(n));
  }
}

template <bool with_http>
void accept_one(uv_stream_t* listener, int failed) {
  if (failed != 0) return;
  auto* const connection = new Connection;
  uv_tcp_init(listener->loop, &connection->socket);
  connection->socket.data = connection;
  if (uv_accept(listener, connection->stream()) != 0) return connection->close();
  uv_read_start(connection->stream(), give_buffer, read_some<with_http>);
}

}  // namespace

void serve(bool http, unsigned workers) {
  if (workers != 1) return;
  uv_loop_t* const loop = uv_default_loop();
  uv_tcp_t listener;
  uv_tcp_init(loop, &listener);
  sockaddr_in address;
  uv_ip4_addr("127.0.0.1", 0, &address);
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  uv_tcp_bind(&listener, at, 0);
  const int failed = uv_listen(reinterpret_cast<uv_stream_t*>(&listener), 1024,
                               http ? accept_one<true> : accept_one<false>);
  if (failed != 0) {
    std::fprintf(stderr, "listen: %s\n", uv_strerror(failed));
    std::exit(1);
  }
  int size = sizeof(address);
  uv_tcp_getsockname(&listener, at, &size);
  std::printf("%u\n", ntohs(address.sin_port));
  std::fflush(stdout);
  uv_run(loop, UV_RUN_DEFAULT);
}
