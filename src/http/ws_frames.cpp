#include "http/ws_frames.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>
#include <wslay/wslay.h>

#include "rouse/base/result.hpp"

#include "sys/self.hpp"

namespace rouse::http::ws {
namespace {

constexpr std::size_t longest_head = 14;

/// Random bytes, asked for in bulk: a mask for each frame would be a system call for each frame.
class MaskSource {
 public:
  Result<void> take(std::span<std::byte> mask) noexcept {
    if (left_ < mask.size()) {
      if (Result<void> filled = sys::fill_randomly(bytes_); !filled) return filled;
      left_ = bytes_.size();
    }
    std::memcpy(mask.data(), bytes_.data() + (bytes_.size() - left_), mask.size());
    left_ -= mask.size();
    return {};
  }

 private:
  std::array<std::byte, 64> bytes_;
  std::size_t left_ = 0;
};

}  // namespace

struct Frames::State {
  State() noexcept = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { wslay_frame_context_free(wslay); }

  wslay_frame_context_ptr wslay = nullptr;
  std::span<const std::byte>* input = nullptr;
  std::string* output = nullptr;
  MaskSource masks;
  std::error_code error;
};

struct Frames::Callbacks {
  static ssize_t recv(std::uint8_t* buf, std::size_t size, int, void* data) noexcept {
    std::span<const std::byte>& input = *static_cast<State*>(data)->input;
    const std::size_t n = std::min(size, input.size());
    if (n == 0) return -1;
    std::memcpy(buf, input.data(), n);
    input = input.subspan(n);
    return static_cast<ssize_t>(n);
  }
  /// There is room: see write.
  static ssize_t send(const std::uint8_t* bytes, std::size_t size, int, void* data) noexcept {
    static_cast<State*>(data)->output->append(reinterpret_cast<const char*>(bytes), size);
    return static_cast<ssize_t>(size);
  }
  static int make_mask(std::uint8_t* mask, std::size_t size, void* data) noexcept {
    State& state = *static_cast<State*>(data);
    const Result<void> taken = state.masks.take(std::as_writable_bytes(std::span(mask, size)));
    if (taken) return 0;
    state.error = taken.error();
    return -1;
  }
};

Frames::Frames() : state_(internal::make_box<State>()) {
  wslay_frame_callbacks callbacks{};
  callbacks.send_callback = Callbacks::send;
  callbacks.recv_callback = Callbacks::recv;
  callbacks.genmask_callback = Callbacks::make_mask;
  if (wslay_frame_context_init(&state_->wslay, &callbacks, state_.get()) != 0) {
    throw std::bad_alloc();
  }
}

Frames::Frames(Frames&& other) noexcept = default;
Frames& Frames::operator=(Frames&& other) noexcept = default;
Frames::~Frames() = default;

Frames::Read Frames::read(std::span<const std::byte>& input, FramePiece& piece) noexcept {
  wslay_frame_iocb frame{};
  state_->input = &input;
  const ssize_t got = wslay_frame_recv(state_->wslay, &frame);
  if (got == WSLAY_ERR_WANT_READ) return Read::nothing;
  if (got < 0) return Read::malformed;
  piece.opcode = static_cast<Opcode>(frame.opcode);
  piece.reserved = frame.rsv;
  piece.is_final = frame.fin != 0;
  piece.is_masked = frame.mask != 0;
  piece.size = frame.payload_length;
  piece.bytes = std::as_bytes(std::span(frame.data, frame.data_length));
  return Read::piece;
}

void Frames::write(std::string& out, Opcode opcode, std::span<const std::byte> payload,
                   bool is_masked) {
  const std::size_t needed = out.size() + longest_head + payload.size();
  if (out.capacity() < needed) out.reserve(std::max(needed, 2 * out.size()));
  wslay_frame_iocb frame{};
  frame.fin = 1;
  frame.opcode = static_cast<std::uint8_t>(opcode);
  frame.mask = is_masked ? 1 : 0;
  frame.data = reinterpret_cast<const std::uint8_t*>(payload.data());
  frame.data_length = payload.size();
  frame.payload_length = payload.size();
  state_->output = &out;
  // Fails before its first byte, if at all.
  if (wslay_frame_send(state_->wslay, &frame) < 0) {
    throw std::system_error(state_->error, "a mask for a WebSocket frame");
  }
}

}  // namespace rouse::http::ws
