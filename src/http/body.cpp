#include "rouse/http/body.hpp"

#include <algorithm>
#include <cstring>

#include "rouse/fs/file.hpp"
#include "rouse/http/error.hpp"
#include "rouse/io/error.hpp"

#include "http/file_source.hpp"

namespace rouse::http {
namespace {

template <class Bytes>
AsyncResult<Bytes> gather(Body& body, std::size_t limit) {
  if (body.length().value_or(0) > limit) co_return io::Error::too_long;
  Bytes bytes;
  bytes.reserve(static_cast<std::size_t>(body.length().value_or(0)));
  const auto all = co_await body.read_to_end(bytes, limit).result();
  if (!all) co_return all.error();
  co_return bytes;
}

}  // namespace

Body Body::file(fs::File file, std::uint64_t offset, std::uint64_t length) {
  return Body(internal::Box<internal::BodySource>(new FileSource(std::move(file), offset, length)));
}

Poll<Result<std::size_t>> Body::poll_read(Context& cx, std::span<std::byte> buf) {
  if (source_) return source_->poll_read(cx, buf);
  const std::size_t n = std::min(buf.size(), text_.size() - given_);
  if (n != 0) std::memcpy(buf.data(), text_.data() + given_, n);
  given_ += n;
  return Poll<Result<std::size_t>>::ready(n);
}

std::optional<std::uint64_t> Body::length() const noexcept {
  if (source_) return source_->length();
  return text_.size() - given_;
}

AsyncResult<std::string> Body::text(std::size_t limit) { return gather<std::string>(*this, limit); }

AsyncResult<std::vector<std::byte>> Body::bytes(std::size_t limit) {
  return gather<std::vector<std::byte>>(*this, limit);
}

Poll<Result<void>> FileSource::poll_seek(Context& cx) {
  using Ready = Poll<Result<void>>;
  if (seek_ == Seek::done) return Ready::ready(Result<void>());
  if (seek_ == Seek::wanted) {
    const Result<void> begun = file_.start_seek(fs::SeekFrom::start(at_));
    if (!begun) return Ready::ready(begun);
    seek_ = Seek::begun;
  }
  const Poll<Result<std::uint64_t>> polled = file_.poll_complete(cx);
  if (polled.is_pending()) return pending;
  seek_ = Seek::done;
  return Ready::ready(polled.value() ? Result<void>() : Result<void>(polled.value().error()));
}

Poll<Result<std::size_t>> FileSource::poll_read(Context& cx, std::span<std::byte> buf) {
  using Ready = Poll<Result<std::size_t>>;
  if (left_ == 0 || buf.empty()) return Ready::ready(std::size_t{0});
  if (const Poll<Result<void>> sought = poll_seek(cx); sought.is_pending()) {
    return pending;
  } else if (!sought.value()) {
    return Ready::ready(sought.value().error());
  }
  if (buf.size() > left_) buf = buf.first(static_cast<std::size_t>(left_));
  Ready polled = file_.poll_read(cx, buf);
  if (polled.is_pending() || !polled.value()) return polled;
  if (*polled.value() == 0) return Ready::ready(Error::wrong_length);  // it was truncated
  left_ -= *polled.value();
  return polled;
}

}  // namespace rouse::http
