#include "http/parser.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "rouse/base/assert.hpp"

#include "http/headers_builder.hpp"
#include "http/llhttp.hpp"

namespace rouse::http {
namespace {

/// Of a chunk without extensions: 16 digits and two line ends. What goes beyond counts as
/// extension.
constexpr std::size_t framing_of_a_chunk = 20;
/// Of a trailer field: ": " and a line end.
constexpr std::size_t framing_of_a_field = 4;

std::optional<Method> method_of(std::uint8_t number) noexcept {
  switch (number) {
    case HTTP_GET:
      return Method::get;
    case HTTP_HEAD:
      return Method::head;
    case HTTP_POST:
      return Method::post;
    case HTTP_PUT:
      return Method::put;
    case HTTP_DELETE:
      return Method::delete_;
    case HTTP_CONNECT:
      return Method::connect;
    case HTTP_OPTIONS:
      return Method::options;
    case HTTP_TRACE:
      return Method::trace;
    case HTTP_PATCH:
      return Method::patch;
    default:
      return std::nullopt;
  }
}

const char* text_of(std::span<const std::byte> bytes) noexcept {
  // llhttp subtracts and compares pointers, also of nothing.
  return bytes.empty() ? "" : reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

struct Parser::State {
  State(Kind its_kind, const ParserLimits& its_limits) noexcept
      : kind(its_kind), limits(its_limits) {
    llhttp_init(&parser, kind == Kind::requests ? HTTP_REQUEST : HTTP_RESPONSE, &settings());
    parser.data = this;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() = default;

  static const llhttp_settings_t& settings() noexcept;
  static State& of(llhttp_t* parser) noexcept { return *static_cast<State*>(parser->data); }

  /// In a callback: what it gives ends llhttp's run.
  int refuse(Status status, const char* reason) noexcept {
    refusal = Refusal{status, reason};
    is_refused = true;
    return HPE_USER;
  }
  void fail(const Refusal& why) noexcept {
    refusal = why;
    stage = Stage::failed;
  }
  /// Runs llhttp. How many bytes it has used; `is_paused`: a callback wanted to stop there.
  std::size_t execute(std::span<const std::byte> bytes) {
    const char* const from = text_of(bytes);
    const llhttp_errno_t error = llhttp_execute(&parser, from, bytes.size());
    is_paused = error == HPE_PAUSED || error == HPE_PAUSED_UPGRADE;
    if (error == HPE_OK) return bytes.size();
    if (!is_paused) fail(is_refused ? refusal : why(error));
    const char* const stopped = llhttp_get_error_pos(&parser);
    return stopped ? static_cast<std::size_t>(stopped - from) : bytes.size();
  }
  /// Of the body, of this piece.
  [[nodiscard]] std::size_t given() const noexcept { return static_cast<std::size_t>(to - out); }
  [[nodiscard]] Refusal why(llhttp_errno_t error) const noexcept {
    const char* const reason = llhttp_get_error_reason(&parser);
    // llhttp says the same of a version that is fine, but does not end in CRLF.
    const bool is_other_version = error == HPE_INVALID_VERSION && !has_known_version();
    const Status status = is_other_version ? Status::version_not_supported : Status::bad_request;
    return Refusal{status, reason ? reason : ""};
  }
  [[nodiscard]] bool has_known_version() const noexcept {
    return parser.http_major == 1 && parser.http_minor <= 1;
  }

  void head_complete();
  void judge();
  /// Of what frames the chunks of a body there may not be endlessly much. Asked before the bytes of
  /// a chunk and at the end, which is the same however the bytes are cut; and behind each piece
  /// for the chunk that may have begun, with room for it: whoever fails there fails later, too.
  [[nodiscard]] bool has_too_much_framing(std::size_t used, std::size_t given,
                                          std::size_t begun) const noexcept {
    const std::size_t allowed =
        limits.chunk_extensions + (chunks + begun) * framing_of_a_chunk + trailer_size;
    return head.is_chunked && used - given > allowed;
  }
  void judge_overhead() noexcept {
    if (has_too_much_framing(body_used, body_given, is_whole ? 0 : 1)) {
      fail(Refusal{Status::bad_request, "too many chunk extensions"});
    } else if (trailer_size > limits.head || trailers > limits.fields) {
      fail(Refusal{Status::header_fields_too_large, "too many trailers"});
    }
  }

  const Kind kind;
  const ParserLimits limits;
  llhttp_t parser{};
  Head head;
  HeadersBuilder fields{head.headers};
  Stage stage = Stage::head;
  Refusal refusal;
  bool is_refused = false;
  bool is_paused = false;
  bool has_head = false;
  bool is_whole = false;  // the last byte was used
  bool has_no_body = false;
  std::size_t head_size = 0;
  std::size_t body_used = 0;
  std::size_t body_given = 0;
  std::size_t chunks = 0;
  std::size_t extensions = 0;
  std::size_t trailers = 0;
  std::size_t trailer_size = 0;
  // During parse_body:
  const char* piece = nullptr;  // what came
  std::byte* out = nullptr;     // where the body goes
  std::byte* to = nullptr;      // where more of it goes
};

/// What llhttp calls: they record. No exception may pass through C.
struct Parser::Callbacks {
  template <class Record>
  static int record(State& state, Record&& with) noexcept {
    try {
      with();
      return HPE_OK;
    } catch (...) {
      return state.refuse(Status::service_unavailable, "no memory");
    }
  }
  static int protocol(llhttp_t* parser, const char* at, std::size_t size) noexcept {
    State& state = State::of(parser);
    // llhttp also knows RTSP and ICE. A piece of "HTTP" has one of its letters first.
    if (std::string_view("HTTP").find(std::string_view(at, size)) != std::string_view::npos) {
      return HPE_OK;
    }
    return state.refuse(Status::bad_request, "not HTTP");
  }
  static int url(llhttp_t* parser, const char* at, std::size_t size) noexcept {
    State& state = State::of(parser);
    if (state.head.target.size() + size > state.limits.target) {
      return state.refuse(Status::uri_too_long, "the target is too long");
    }
    return record(state, [&] { state.head.target.append(at, size); });
  }
  static int header_field(llhttp_t* parser, const char* at, std::size_t size) noexcept {
    State& state = State::of(parser);
    if (state.has_head) return trailer(state, size);
    return record(state, [&] { state.fields.name({at, size}); });
  }
  static int header_value(llhttp_t* parser, const char* at, std::size_t size) noexcept {
    State& state = State::of(parser);
    if (state.has_head) return trailer(state, size);
    return record(state, [&] { state.fields.value({at, size}); });
  }
  static int header_value_complete(llhttp_t* parser) noexcept {
    State& state = State::of(parser);
    if (state.has_head) {
      ++state.trailers;
      return trailer(state, framing_of_a_field);
    }
    state.fields.end_value();
    if (state.head.headers.size() <= state.limits.fields) return HPE_OK;
    return state.refuse(Status::header_fields_too_large, "too many header fields");
  }
  static int trailer(State& state, std::size_t size) noexcept {
    state.trailer_size += size;
    return HPE_OK;
  }
  static int headers_complete(llhttp_t* parser) noexcept {
    State& state = State::of(parser);
    state.has_head = true;
    state.head.wants_upgrade = parser->upgrade != 0 && parser->method != HTTP_CONNECT;
    state.head.keeps_alive = llhttp_should_keep_alive(parser) != 0;
    // A request that asks for another protocol is read as any other, with its body.
    if (state.kind == Kind::requests) parser->upgrade = 0;
    return HPE_PAUSED;
  }
  static int body(llhttp_t* parser, const char* at, std::size_t size) noexcept {
    State& state = State::of(parser);
    const std::size_t used = state.body_used + static_cast<std::size_t>(at - state.piece);
    const std::size_t given = state.body_given + state.given();
    if (state.has_too_much_framing(used, given, 0)) {
      return state.refuse(Status::bad_request, "too many chunk extensions");
    }
    std::memmove(state.to, at, size);
    state.to += size;
    return HPE_OK;
  }
  static int chunk_extension(llhttp_t* parser, const char* /*at*/, std::size_t size) noexcept {
    State& state = State::of(parser);
    state.extensions += size;
    if (state.extensions <= state.limits.chunk_extensions) return HPE_OK;
    return state.refuse(Status::bad_request, "too many chunk extensions");
  }
  static int chunk_header(llhttp_t* parser) noexcept {
    ++State::of(parser).chunks;
    return HPE_OK;
  }
  static int message_complete(llhttp_t* parser) noexcept {
    State::of(parser).is_whole = true;
    return HPE_PAUSED;
  }
};

const llhttp_settings_t& Parser::State::settings() noexcept {
  static const llhttp_settings_t callbacks = [] {
    llhttp_settings_t made;
    llhttp_settings_init(&made);
    made.on_protocol = Callbacks::protocol;
    made.on_url = Callbacks::url;
    made.on_header_field = Callbacks::header_field;
    made.on_header_value = Callbacks::header_value;
    made.on_header_value_complete = Callbacks::header_value_complete;
    made.on_headers_complete = Callbacks::headers_complete;
    made.on_body = Callbacks::body;
    made.on_chunk_extension_name = Callbacks::chunk_extension;
    made.on_chunk_extension_value = Callbacks::chunk_extension;
    made.on_chunk_header = Callbacks::chunk_header;
    made.on_message_complete = Callbacks::message_complete;
    return made;
  }();
  return callbacks;
}

/// llhttp has stopped behind the head. It goes on without a byte, to say whether a body follows.
void Parser::State::head_complete() {
  judge();
  if (stage == Stage::failed) return;
  if (has_no_body) parser.flags |= F_SKIPBODY;
  llhttp_resume(&parser);
  (void)execute({});
  if (stage == Stage::failed) return;
  stage = is_whole ? Stage::complete : Stage::body;
  if (kind == Kind::requests && head.has_body() == is_whole) {
    fail(Refusal{Status::bad_request, "a body of a length that can't be told"});
  }
}

void Parser::State::judge() {
  if (!has_known_version()) {
    return fail(Refusal{Status::version_not_supported, "a version other than 1.0 and 1.1"});
  }
  head.minor_version = parser.http_minor;
  std::optional<Refusal> refused;
  if (kind == Kind::requests) {
    const std::optional<Method> method = method_of(parser.method);
    if (!method) return fail(Refusal{Status::not_implemented, "a method that is not known here"});
    head.method = *method;
    refused = judge_request(head);
  } else {
    head.status = static_cast<http::Status>(parser.status_code);
    refused = judge_response(head);
  }
  if (refused) fail(*refused);
}

Parser::Parser(Kind kind, const ParserLimits& limits)
    : state_(internal::make_box<State>(kind, limits)) {}
Parser::Parser(Parser&& other) noexcept = default;
Parser& Parser::operator=(Parser&& other) noexcept = default;
Parser::~Parser() = default;

Parser::Stage Parser::stage() const noexcept { return state_->stage; }
Head& Parser::head() noexcept { return state_->head; }
const Refusal& Parser::refusal() const noexcept { return state_->refusal; }
bool Parser::has_begun() const noexcept { return state_->head_size != 0; }

std::size_t Parser::parse_head(std::span<const std::byte> bytes) {
  State& state = *state_;
  ROUSE_ASSERT(state.stage == Stage::head, "parse_head when a head is not what comes next");
  // One byte more than allowed shows that it is too long.
  const std::size_t room = state.limits.head + 1 - state.head_size;
  const std::size_t used = state.execute(bytes.first(std::min(bytes.size(), room)));
  state.head_size += used;
  if (state.stage == Stage::failed) return used;
  if (state.head_size > state.limits.head) {
    state.fail(Refusal{Status::header_fields_too_large, "the head is too long"});
  } else if (state.has_head) {
    state.head_complete();
  }
  return used;
}

Parser::Taken Parser::parse_body(std::span<const std::byte> bytes, std::span<std::byte> out) {
  State& state = *state_;
  ROUSE_ASSERT(state.stage == Stage::body, "parse_body when no body is what comes next");
  // Each byte of the body was one that came: so it fits.
  bytes = bytes.first(std::min(bytes.size(), out.size()));
  state.piece = text_of(bytes);
  state.out = state.to = out.data();
  Taken taken;
  taken.used = state.execute(bytes);
  taken.given = state.given();
  state.body_used += taken.used;
  state.body_given += taken.given;
  if (state.stage == Stage::failed) return taken;
  if (state.is_whole) state.stage = Stage::complete;
  state.judge_overhead();
  return taken;
}

void Parser::end_of_input() {
  State& state = *state_;
  if (state.stage == Stage::complete || state.stage == Stage::failed) return;
  if (state.stage == Stage::head && !has_begun()) return;
  if (state.stage == Stage::body && llhttp_message_needs_eof(&state.parser) != 0) {
    state.stage = Stage::complete;
  } else {
    state.fail(Refusal{Status::bad_request, "the message ended early"});
  }
}

void Parser::next() noexcept {
  State& state = *state_;
  ROUSE_ASSERT(state.stage == Stage::complete, "Parser::next before the message is complete");
  llhttp_reset(&state.parser);
  state.head.clear();
  state.fields = HeadersBuilder(state.head.headers);
  state.stage = Stage::head;
  state.has_head = state.is_whole = state.has_no_body = false;
  state.head_size = state.body_used = state.body_given = 0;
  state.chunks = state.extensions = state.trailers = state.trailer_size = 0;
}

void Parser::expect_no_body() noexcept { state_->has_no_body = true; }

}  // namespace rouse::http
