// An nginx that serves a temporary directory, as any user, and touches no other place.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "counterparts/support.hpp"

namespace rouse::test {

class WithNginx : public Counterpart {
 protected:
  /// Without nginx the test is skipped.
  void SetUp() override {
    const std::string nginx = program("nginx");
    if (IsSkipped()) return;
    port_ = free_port();
    files_.write("nginx.conf", configuration());
    server_.emplace(std::vector<std::string>{nginx, "-p", files_.path(), "-e",
                                             files_.file("error.log"), "-c",
                                             files_.file("nginx.conf")});
    server_->wait_for_port(port_);
  }
  void TearDown() override {
    if (!server_) return;
    server_->send_signal(SIGQUIT);
    EXPECT_EQ(server_->wait().status, 0) << files_.read("error.log");
  }

  [[nodiscard]] std::string nginx_address() const { return text_of(port_); }
  void serve_file(std::string_view name, std::string_view content) const {
    files_.write(name, content);
  }
  [[nodiscard]] const TempDirectory& files() const noexcept { return files_; }

 private:
  [[nodiscard]] std::string configuration() const {
    std::string text =
        // Without a timer, a SIGQUIT that comes just before it waits for events is seen after the
        // next event: there may be none.
        "daemon off; master_process off; pid nginx.pid; timer_resolution 100ms;\n"
        "events { worker_connections 1024; }\n"
        "http { access_log off; keepalive_requests 1000000;\n";
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
      text += std::string(kind) + "_temp_path " + kind + ";\n";
    }
    return text + "server { listen " + nginx_address() + "; root .; } }\n";
  }

  TempDirectory files_;
  std::uint16_t port_ = 0;
  std::optional<Program> server_;
};

}  // namespace rouse::test
