// PUBLISH and SUBSCRIBE: a broadcast channel for each topic that has a subscriber.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/resp.hpp"
#include "mini/store.hpp"

namespace mini {

// [topics]
/// A message as it goes to the clients, encoded once for all of them.
using Message = std::shared_ptr<const std::string>;
using Topic = rouse::sync::BroadcastSender<Message>;

/// What a client has subscribed to, as a stream. It throws if the client is too slow to see all:
/// better no connection than one with holes.
class Inbox {
 public:
  using Item = Message;

  explicit Inbox(rouse::sync::BroadcastReceiver<Message> messages)
      : messages_(std::move(messages)) {}
  rouse::PollNext<Message> poll_next(rouse::Context& cx) {
    auto polled = messages_.poll_next(cx);
    if (messages_.missed() == 0) return polled;
    throw std::system_error(make_error_code(std::errc::no_buffer_space), "too slow a subscriber");
  }

 private:
  rouse::sync::BroadcastReceiver<Message> messages_;
};

class Topics {
 public:
  explicit Topics(std::size_t backlog) : backlog_(backlog) {}

  Inbox subscribe(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto it = topics_.find(name);
    if (it != topics_.end()) return Inbox(it->second.subscribe());
    auto [topic, inbox] = rouse::sync::broadcast<Message>(backlog_);
    topics_.emplace(name, std::move(topic));
    return Inbox(std::move(inbox));
  }

  /// After a client has left: a topic without subscribers costs nothing.
  void forget_unused(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto it = topics_.find(name);
    if (it != topics_.end() && it->second.receiver_count() == 0) topics_.erase(it);
  }

  /// Gives how many get it. Does not wait for the slowest: a subscriber misses what it is more than
  /// `backlog` messages behind.
  std::size_t publish(std::string_view name, std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto it = topics_.find(name);
    if (it == topics_.end()) return 0;
    std::string encoded;
    add_array(encoded, 3);
    add_bulk(encoded, "message");
    add_bulk(encoded, name);
    add_bulk(encoded, text);
    const auto sent = it->second.send(std::make_shared<const std::string>(std::move(encoded)));
    return sent.value_or(0);
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return topics_.size();
  }

 private:
  std::size_t backlog_;
  mutable std::mutex mutex_;
  Fields<Topic> topics_;
};
// [/topics]

}  // namespace mini
