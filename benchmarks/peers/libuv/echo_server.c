#include <stdlib.h>
#include <uv.h>

static void on_close(uv_handle_t* peer) { free(peer); }
static void on_written(uv_write_t* write, int status) { free(write->data), free(write); }
static void on_alloc(uv_handle_t* peer, size_t size, uv_buf_t* buffer) {
  *buffer = uv_buf_init(malloc(4096), 4096);
}
static void on_read(uv_stream_t* peer, ssize_t n, const uv_buf_t* buffer) {
  uv_write_t* write = malloc(sizeof *write);
  write->data = buffer->base;
  if (n < 0) uv_close((uv_handle_t*)peer, on_close);
  if (n > 0) uv_write(write, peer, &(uv_buf_t){buffer->base, (size_t)n}, 1, on_written);
  if (n <= 0) on_written(write, 0);
}
static void on_connection(uv_stream_t* listener, int status) {
  uv_tcp_t* peer = malloc(sizeof *peer);
  uv_tcp_init(listener->loop, peer);
  if (uv_accept(listener, (uv_stream_t*)peer) == 0)
    uv_read_start((uv_stream_t*)peer, on_alloc, on_read);
}
int main(void) {
  uv_tcp_t listener;
  struct sockaddr_in address;
  uv_tcp_init(uv_default_loop(), &listener);
  uv_ip4_addr("127.0.0.1", 8080, &address);
  uv_tcp_bind(&listener, (const struct sockaddr*)&address, 0);
  uv_listen((uv_stream_t*)&listener, 1024, on_connection);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
