// The reactor by hand: descriptors that go and come while events of theirs are under way.
#include "io/reactor.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <set>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/error.hpp"
#include "rouse/testing/counting_waker.hpp"

#include "io/inline_waker.hpp"
#include "runtime/drivers.hpp"

namespace rouse::io {

using namespace internal;
namespace {

using namespace std::chrono_literals;
using test::Inline;
using testing::CountingWaker;

/// An eventfd that the reactor watches for reading.
class Watched {
 public:
  explicit Watched(Reactor& reactor)
      : reactor_(&reactor), fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    watch();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { drop(); }

  void drop() {
    if (!fd_) return;
    reactor_->remove(*source_, fd_.get());
    fd_.close();
  }
  /// Another descriptor of the same number, watched anew.
  void replace() {
    const int number = fd_.get();
    drop();
    OwnedFd fresh(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (fresh.get() != number) {
      ASSERT_EQ(::dup2(fresh.get(), number), number);
      fresh.close();
      fresh = OwnedFd(number);
    }
    fd_ = std::move(fresh);
    watch();
  }
  void signal() const { ASSERT_EQ(::eventfd_write(fd_.get(), 1), 0); }
  bool wait_with(const Waker& waker) const {
    Context cx(waker);
    Ready ready;
    return source_->poll_ready(Interest::readable, cx, ready);
  }
  [[nodiscard]] IoSource& source() const { return *source_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  void watch() {
    source_ = reactor_->add(fd_.get(), Interest::readable).value();
    source_->clear_blocked(source_->ready(), Interest::readable);
  }
  Reactor* reactor_;
  OwnedFd fd_;
  IoSource* source_ = nullptr;
};

class ReactorTest : public ::testing::Test {
 protected:
  /// Whether there was anything.
  bool look(std::chrono::nanoseconds at_most = 0ns) {
    reactor->wait(at_most);
    const bool found = reactor->has_found();
    reactor->dispatch();
    return found;
  }
  RefPtr<Reactor> reactor = Reactor::make();
};

TEST_F(ReactorTest, EachOfManyDescriptorsIsToldOfItsOwnEvents) {
  constexpr std::size_t count = 300;  // several chunks of slots
  std::vector<std::unique_ptr<Watched>> all;
  std::vector<CountingWaker> wakers(count);
  std::set<IoSource*> sources;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Watched>(*reactor));
    sources.insert(&all.back()->source());
    ASSERT_FALSE(all.back()->wait_with(wakers[i].waker()));
  }
  EXPECT_EQ(sources.size(), count);
  for (std::size_t i = 0; i < count; i += 3) all[i]->signal();
  EXPECT_TRUE(look());
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(wakers[i].count(), i % 3 == 0 ? 1U : 0U);
    EXPECT_EQ(all[i]->source().ready().is_readable(), i % 3 == 0);
  }
  EXPECT_FALSE(look()) << "each change is told once";
}

TEST_F(ReactorTest, ADescriptorReplacedInTheMidstOfABatchDoesNotGetTheOldOnesEvent) {
  Watched first(*reactor);
  Watched second(*reactor);
  CountingWaker new_owner;
  IoSource* const slot = &second.source();
  const int number = second.fd();
  int polls = 0;
  const Inline handler([&] {
    ++polls;
    second.replace();
    ASSERT_FALSE(second.wait_with(new_owner.waker()));
  });
  ASSERT_FALSE(first.wait_with(handler.waker()));
  first.signal();
  second.signal();  // told after the first, in one batch
  EXPECT_TRUE(look());
  EXPECT_EQ(polls, 1);
  ASSERT_EQ(&second.source(), slot) << "the slot is used again: otherwise this tests nothing";
  ASSERT_EQ(second.fd(), number);
  EXPECT_EQ(new_owner.count(), 0U);
  EXPECT_FALSE(second.source().ready().is_readable());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(look()) << "nothing is left that comes again and again";
  second.signal();
  EXPECT_TRUE(look());
  EXPECT_EQ(new_owner.count(), 1U);
}

TEST_F(ReactorTest, AWakerMayDropItsOwnDescriptorAndOthersOfTheBatch) {
  std::vector<std::unique_ptr<Watched>> all;
  for (int i = 0; i < 10; ++i) all.push_back(std::make_unique<Watched>(*reactor));
  const Inline drops_all([&] { all.clear(); });
  CountingWaker last;
  ASSERT_FALSE(all.front()->wait_with(drops_all.waker()));
  ASSERT_FALSE(all.back()->wait_with(last.waker()));
  for (const auto& watched : all) watched->signal();
  EXPECT_TRUE(look());
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(last.count(), 0U);
  EXPECT_EQ(last.clones(), 0U);
}

TEST_F(ReactorTest, ADescriptorClosedBehindOurBackWhileACopyLivesNeitherSpinsNorCrashes) {
  OwnedFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const OwnedFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  IoSource* const source = reactor->add(fd.get(), Interest::readable).value();
  source->clear_blocked(source->ready(), Interest::readable);
  const int number = fd.get();
  fd.close();
  ASSERT_EQ(::eventfd_write(copy.get(), 1), 0);
  EXPECT_TRUE(look());
  EXPECT_TRUE(source->ready().is_readable());
  EXPECT_FALSE(look());
  reactor->remove(*source, number);  // which can't take it out of the kernel's list
  Watched next(*reactor);
  ASSERT_EQ(&next.source(), source);
  CountingWaker waker;
  ASSERT_FALSE(next.wait_with(waker.waker()));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(::eventfd_write(copy.get(), 1), 0);
    look();
    EXPECT_FALSE(look());
  }
  EXPECT_EQ(waker.count(), 0U);
  EXPECT_FALSE(next.source().ready().is_readable());
}

TEST_F(ReactorTest, AWakeEndsTheWaitAlsoOneThatComesBeforeIt) {
  reactor->wake();
  EXPECT_FALSE(look(1h));
  std::atomic<int> rounds{0};
  std::thread waker([&] {
    for (int i = 0; i < 100; ++i) {
      reactor->wake();
      while (rounds.load() <= i) std::this_thread::yield();
    }
  });
  for (int i = 0; i < 100; ++i) {
    look(1h);
    ++rounds;
  }
  waker.join();
}

TEST_F(ReactorTest, AWaitIsAsLongAsItWasTold) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(look(3ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 3ms);
}

TEST_F(ReactorTest, WhatIsAddedWhileItIsClosedIsRefusedOrToldSo) {
  for (int round = 0; round < 16; ++round) {
    const RefPtr<Reactor> closed = Reactor::make();
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        const OwnedFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        for (;;) {
          const auto source = closed->add(fd.get(), Interest::readable);
          if (!source) {
            EXPECT_EQ(source.error(), Error::runtime_ended);
            ++refused;
            return;
          }
          (*source)->clear_blocked((*source)->ready(), Interest::readable);
          // Waits for ever if the end is missed.
          CountingWaker waker;
          Context cx(waker.waker());
          Ready ready;
          if (!(*source)->poll_ready(Interest::readable, cx, ready)) {
            if (round % 2 == 0) {
              while (waker.count() == 0) std::this_thread::yield();
            }
          }
          closed->remove(**source, fd.get());
        }
      });
    }
    for (int i = 0; i < round; ++i) std::this_thread::yield();
    closed->close();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(refused.load(), 2);
  }
}

TEST_F(ReactorTest, DescriptorsComeAndGoOnManyThreadsWhileOneHandsOut) {
  constexpr int threads = 3;
  constexpr int rounds = 500;
  std::atomic<int> running{threads};
  std::vector<std::thread> users;
  for (int t = 0; t < threads; ++t) {
    users.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        Watched watched(*reactor);
        CountingWaker waker;
        if (watched.wait_with(waker.waker())) ADD_FAILURE() << "an event of somebody else's";
        if (i % 4 == 0) continue;  // dropped with its waker there
        watched.signal();
        if (i % 4 == 1) continue;  // dropped with its event under way
        while (!watched.wait_with(waker.waker())) std::this_thread::yield();
      }
      --running;
      reactor->wake();
    });
  }
  while (running.load() > 0) look(10ms);
  for (auto& user : users) user.join();
}

TEST(ReactorDeathTest, OneWhoseEpollDescriptorWasClosedByOthersAbortsInsteadOfSpinning) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto close_it_and_wait = [] {
    const RefPtr<Reactor> reactor = Reactor::make();
    for (int fd = 3; fd < 64; ++fd) {
      std::array<char, 64> target{};
      const std::string link = "/proc/self/fd/" + std::to_string(fd);
      if (::readlink(link.c_str(), target.data(), target.size() - 1) < 0) continue;
      if (std::strstr(target.data(), "eventpoll") != nullptr) ::close(fd);
    }
    reactor->wait(1h);
  };
  EXPECT_DEATH(close_it_and_wait(), "epoll descriptor is no longer there");
}

TEST(ReactorPark, NoUnparkIsLost) {
  constexpr int rounds = 2'000;
  ReactorPark park;
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      asked.store(i);
      park.unpark();
      while (answered.load() < i) std::this_thread::yield();
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    while (asked.load() < i) {
      park.park(Park::for_ever);
      park.poll();
    }
    answered.store(i);
  }
  other.join();
}

}  // namespace
}  // namespace rouse::io
