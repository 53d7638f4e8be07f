// What a client's connection is: bytes in, commands run, replies out, subscriptions. No I/O here:
// `serve` in server.hpp moves the bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <rouse/rouse.hpp>

#include "mini/commands.hpp"
#include "mini/resp.hpp"
#include "mini/store.hpp"
#include "mini/topics.hpp"

namespace mini {

// [limits]
struct Limits {
  ParserLimits parser;
  std::size_t clients = 10'000;
  std::size_t replies = 64 * 1024;   ///< bytes of replies that are written before more commands run
  std::size_t backlog = 1024;        ///< messages that a subscriber may be behind
  std::size_t subscriptions = 1000;  ///< that a client may have
  std::optional<std::chrono::nanoseconds> idle;  ///< without a command; empty: for ever
  std::chrono::nanoseconds write = std::chrono::seconds(30);  ///< until a client takes its replies
  std::chrono::nanoseconds drain = std::chrono::seconds(5);   ///< for clients, at the end
};
// [/limits]

// [shared]
/// What all connections share.
struct Shared {
  explicit Shared(const Limits& the_limits) : limits(the_limits), topics(the_limits.backlog) {}

  const Limits limits;
  Store store;
  Topics topics;
  rouse::sync::CancellationToken stop;
};
// [/shared]

// [session]
class Session {
 public:
  explicit Session(Shared& shared) : shared_(shared), parser_(shared.limits.parser) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { unsubscribe_all(); }

  /// Where to read to, and what was read.
  [[nodiscard]] std::span<std::byte> room() { return input_.room(); }
  void add(std::size_t bytes) { input_.add(bytes); }

  /// Runs the commands that have come whole, until the replies are large enough for a write. True:
  /// there may be more.
  bool run() {
    while (!is_over_ && replies_.size() < shared_.limits.replies) {
      const auto bytes = input_.bytes();
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      switch (parser_.next(text)) {
        case Parser::Found::nothing_yet:
          return false;
        case Parser::Found::mistake:
          add_error(replies_, "ERR " + parser_.mistake());
          is_over_ = true;
          return false;
        case Parser::Found::command:
          if (!parser_.args().empty()) run_command(parser_.args());
          input_.consume(parser_.consumed());
      }
    }
    return !is_over_;
  }

  [[nodiscard]] std::string& replies() { return replies_; }
  /// The client has said QUIT, or something that is no RESP.
  [[nodiscard]] bool is_over() const { return is_over_; }
  // [/session]
  // [inboxes]
  using Inboxes = rouse::stream::StreamMap<std::string, Inbox>;
  [[nodiscard]] bool is_subscribed() const { return !inboxes_.empty(); }
  [[nodiscard]] Inboxes& inboxes() { return inboxes_; }
  // [/inboxes]

 private:
  // [run_command]
  void run_command(Args args) {
    if (execute(shared_.store, args, replies_)) return;
    if (is_word(args[0], "PUBLISH") && args.size() == 3) {
      const std::size_t reached = shared_.topics.publish(args[1], args[2]);
      return add_integer(replies_, static_cast<std::int64_t>(reached));
    }
    if (is_word(args[0], "SUBSCRIBE") && args.size() > 1) return subscribe(args.subspan(1));
    if (is_word(args[0], "UNSUBSCRIBE")) return unsubscribe(args.subspan(1));
    if (is_word(args[0], "QUIT") || is_word(args[0], "SHUTDOWN")) {
      is_over_ = true;
      if (is_word(args[0], "SHUTDOWN")) return shared_.stop.cancel();
      return add_ok(replies_);
    }
    add_unknown(replies_, args[0]);
  }
  // [/run_command]
  // [subscribe]
  void subscribe(Args names) {
    for (const std::string_view name : names) {
      const auto [it, is_new] = names_.emplace(name);
      if (is_new && names_.size() > shared_.limits.subscriptions) {
        names_.erase(it);
        add_error(replies_, "ERR too many subscriptions");
        continue;
      }
      if (is_new) inboxes_.insert(*it, shared_.topics.subscribe(name));
      add_subscription("subscribe", name);
    }
  }
  void unsubscribe_all() {
    inboxes_ = Inboxes();
    for (const std::string& name : names_) shared_.topics.forget_unused(name);
    names_.clear();
  }
  // [/subscribe]
  void unsubscribe(Args names) {
    if (names.empty()) {
      unsubscribe_all();
      return add_subscription("unsubscribe", "");
    }
    for (const std::string_view name : names) {
      inboxes_.remove(std::string(name));
      names_.erase(std::string(name));
      shared_.topics.forget_unused(name);
      add_subscription("unsubscribe", name);
    }
  }
  void add_subscription(std::string_view what, std::string_view name) {
    add_array(replies_, 3);
    add_bulk(replies_, what);
    add_bulk(replies_, name);
    add_integer(replies_, static_cast<std::int64_t>(inboxes_.size()));
  }

  Shared& shared_;
  Parser parser_;
  rouse::io::FrameBuffer input_;
  std::string replies_;
  Inboxes inboxes_;
  Set names_;  // of the topics in there
  bool is_over_ = false;
};

}  // namespace mini
