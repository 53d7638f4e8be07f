#include "sight/trace_file.hpp"

#include "rouse/sight/trace.hpp"

#include "sight/trace.hpp"
#include "sys/memory.hpp"
#include "sys/new_file.hpp"

namespace rouse::sight {
namespace {

/// Of pages of its own; without memory the one that it is given.
class Buffer {
 public:
  Buffer() noexcept : pages_(static_cast<char*>(sys::map_pages(large, page))) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (pages_ != nullptr) sys::unmap_pages(pages_, large);
  }
  char* begin() noexcept { return pages_ == nullptr ? small_ : pages_; }
  std::size_t size() const noexcept { return pages_ == nullptr ? sizeof small_ : large; }

 private:
  static constexpr std::size_t large = 65536;
  static constexpr std::size_t page = 4096;
  char* const pages_;
  char small_[512];
};

}  // namespace

Result<void> trace_to(int fd) noexcept {
  Buffer buffer;
  Out out(fd, buffer.begin(), buffer.size());
  write_trace(out);
  return out.flush();
}

Result<void> write_trace_file(const char* path) noexcept {
  sys::NewFile file(path);
  if (!file.made()) return file.made();
  if (const Result<void> written = trace_to(file.descriptor()); !written) return written;
  return file.publish();
}

Result<void> write_trace(const std::string& path) noexcept {
  if (path.find('\0') != std::string::npos) return std::errc::invalid_argument;
  return write_trace_file(path.c_str());
}

}  // namespace rouse::sight
