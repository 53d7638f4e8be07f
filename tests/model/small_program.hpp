// Small programs of atomic operations, made from a seed, and two ways to know their outcomes: the
// model checker, and the axioms of the C++ memory model (axioms.hpp).
//
// An outcome is what each read has read, in program order, and each location's last value.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rouse/base/atomic.hpp"
#include "rouse/base/thread.hpp"

#include "litmus.hpp"

namespace rouse::model {

struct Instruction {
  enum class Kind : std::uint8_t { load, store, add, fence };
  Kind kind;
  std::memory_order order;
  std::size_t location = 0;
  int operand = 0;  // stored or added: a power of two, so that values tell where they come from

  [[nodiscard]] bool reads() const { return kind == Kind::load || kind == Kind::add; }
  [[nodiscard]] bool writes() const { return kind == Kind::store || kind == Kind::add; }
};

struct SmallProgram {
  static constexpr std::size_t locations = 2;
  std::vector<std::vector<Instruction>> threads;

  [[nodiscard]] std::string text() const {
    static constexpr const char* kinds[] = {"load", "store", "add", "fence"};
    static constexpr const char* orders[] = {"relaxed", "consume", "acquire",
                                             "release", "acq_rel", "seq_cst"};
    std::string text;
    for (const auto& thread : threads) {
      text += "thread:";
      for (const Instruction& one : thread) {
        text += std::string(" ") + kinds[static_cast<int>(one.kind)] + "." +
                orders[static_cast<int>(one.order)] + "(" + (one.location == 0 ? "x" : "y") + "," +
                std::to_string(one.operand) + ")";
      }
      text += "\n";
    }
    return text;
  }
};

inline SmallProgram program_of(std::uint32_t seed, std::size_t threads, std::size_t instructions) {
  using Kind = Instruction::Kind;
  std::mt19937 random(seed);
  const auto pick = [&](auto... choices) {
    const std::array all{choices...};
    return all[random() % all.size()];
  };
  constexpr auto seq_cst = std::memory_order_seq_cst;
  constexpr auto relaxed = std::memory_order_relaxed;
  constexpr auto acquire = std::memory_order_acquire;
  constexpr auto release = std::memory_order_release;
  SmallProgram program;
  int operand = 1;
  for (std::size_t t = 0; t < threads; ++t) {
    auto& thread = program.threads.emplace_back();
    for (std::size_t i = 0; i < instructions; ++i) {
      Instruction one{
          pick(Kind::load, Kind::load, Kind::store, Kind::store, Kind::add, Kind::fence), seq_cst,
          random() % SmallProgram::locations};
      switch (one.kind) {
        case Kind::load:
          one.order = pick(relaxed, acquire, seq_cst);
          break;
        case Kind::store:
          one.order = pick(relaxed, release, seq_cst);
          break;
        case Kind::add:
          one.order = pick(relaxed, acquire, release, std::memory_order_acq_rel, seq_cst);
          break;
        case Kind::fence:
          one.order = pick(acquire, release, seq_cst, seq_cst);
          break;
      }
      if (one.writes()) {
        one.operand = operand;
        operand *= 2;
      }
      thread.push_back(one);
    }
  }
  return program;
}

/// Runs the program once, in a model.
inline void run_once(const SmallProgram& program, Litmus& litmus) {
  atomic<int> memory[SmallProgram::locations];
  std::array<std::array<int, 4>, 4> read{};
  const auto run = [&](std::size_t t) {
    std::size_t reads = 0;
    for (const Instruction& one : program.threads[t]) {
      atomic<int>& location = memory[one.location];
      switch (one.kind) {
        case Instruction::Kind::load:
          read[t][reads++] = location.load(one.order);
          break;
        case Instruction::Kind::store:
          location.store(one.operand, one.order);
          break;
        case Instruction::Kind::add:
          read[t][reads++] = location.fetch_add(one.operand, one.order);
          break;
        case Instruction::Kind::fence:
          fence(one.order);
          break;
      }
    }
  };
  std::array<Thread, 4> threads;
  for (std::size_t t = 0; t < program.threads.size(); ++t) threads[t] = Thread(run, t);
  for (std::size_t t = 0; t < program.threads.size(); ++t) threads[t].join();
  std::vector<int> outcome;
  outside([&] {
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      std::size_t reads = 0;
      for (const Instruction& one : program.threads[t]) {
        if (one.reads()) outcome.push_back(read[t][reads++]);
      }
    }
    for (const atomic<int>& location : memory) outcome.push_back(location.load());
    litmus.saw(outcome);
  });
}

inline Outcomes outcomes_of(const SmallProgram& program, const Options& options) {
  Litmus litmus;
  const Report report = explore([&] { run_once(program, litmus); }, options);
  if (report.finding) return {report.summary()};
  if (!report.complete) return {"not complete"};
  return litmus.outcomes();
}

}  // namespace rouse::model
