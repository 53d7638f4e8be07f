// The operations of the atomic seam as steps of an execution. All have the same form: find the
// object, wait for the turn, choose, count the event, do it, write it down.
#include <algorithm>
#include <atomic>
#include <functional>

#include "model/execution.hpp"

namespace rouse::model {
namespace {

std::uint64_t masked(std::uint64_t value, std::uint32_t size) noexcept {
  return size == 8 ? value : value & ((std::uint64_t{1} << (8 * size)) - 1);
}

/// The object and its location, at the thread's turn.
struct Turn {
  Execution& run;
  AtomicObject& object;
  Location& location;

  Turn(const Word& word)
      : run(execution()), object(wait(run, word)), location(run.memory[object.stamp->index]) {}

  static AtomicObject& wait(Execution& run, const Word& word) {
    run.step(run.atomic(word).contended);
    return run.atomic(word);  // it may have been destroyed meanwhile
  }
  [[nodiscard]] Mind& mind() const { return run.me().mind; }
  [[nodiscard]] const Message& at(std::uint32_t position) const { return location.order[position]; }
  [[nodiscard]] bool is_newest(std::uint32_t position) const {
    return position + 1 == location.order.size();
  }
  std::uint32_t choose() const { return run.positions[run.choose_store(run.positions.size())]; }

  std::uint64_t load(std::uint32_t position, std::memory_order order) const {
    run.me().saw(location.index, at(position).place);
    return run.memory.load(location, position, mind(), order);
  }
  void store(std::uint32_t position, std::memory_order order, std::uint64_t value, bool is_update,
             Hash event) const {
    run.memory.store(location, position, mind(), order, value, is_update, event);
    const std::uint64_t newest = location.newest().value;
    __builtin_memcpy(object.word.value, &newest, object.word.size);
    run.something_changed(location.index);
  }
  void write_down(Op op, std::memory_order order, bool is_old, std::uint64_t read,
                  std::uint64_t written, const Where& where) const {
    run.trace.add({run.current(), op, order, is_old, object.address, read, written, where});
  }
};

/// Another thread wrote the cell, and a thread that knows what `now` counts can't know that.
void refuse_unordered_read(Execution& run, const CellObject& cell, const Clock& now,
                           const Where& where) {
  const ThreadIndex other = now.first_uncovered(cell.changed, run.current());
  if (other == max_threads) return;
  run.fail(Problem::data_race, run.trace.name_of(cell.address, "cell") + " is read by " +
                                   name_of_thread(run.current()) + " (" + text_of(where) +
                                   ") and written by " + name_of_thread(other) + " (" +
                                   text_of(cell.used_at[other]) + "): nothing orders the two");
}

}  // namespace

bool inside() noexcept {
  return running.in_thread && running.system_thread == __builtin_thread_pointer();
}

void object_made(Stamp& stamp) noexcept {
  if (!inside()) return;
  Execution& run = execution();
  stamp = {run.number(), Stamp::unused, run.current(),
           run.me().mind.now.clock.at[run.current()] + 1};
}

std::uint64_t atomic_load(Word word, std::memory_order order, Where where) noexcept {
  const InEngine in_engine;
  const Turn turn(word);
  Execution& run = turn.run;
  order = run.orders()(Orders::Of::load, order, where);
  run.memory.readable(turn.location, turn.mind(), order, run.me().at_least[turn.location.index],
                      run.positions);
  const std::uint32_t position = turn.choose();
  const bool is_old = !turn.is_newest(position);
  run.event(Op::load, &turn.object, turn.at(position).hash, static_cast<Hash>(order));
  run.learn(turn.object, false);
  const std::uint64_t value = turn.load(position, order);
  turn.write_down(Op::load, order, is_old, value, 0, where);
  return value;
}

void atomic_store(Word word, std::uint64_t value, std::memory_order order, Where where) noexcept {
  const InEngine in_engine;
  const Turn turn(word);
  Execution& run = turn.run;
  order = run.orders()(Orders::Of::store, order, where);
  run.memory.followable(turn.location, turn.mind(), order, run.positions);
  const std::uint32_t position = turn.choose();
  const bool is_old = !turn.is_newest(position);
  const Hash event = run.event(Op::store, &turn.object, value, static_cast<Hash>(order));
  run.learn(turn.object, true);
  turn.store(position, order, value, false, event);
  turn.write_down(Op::store, order, is_old, 0, value, where);
}

std::uint64_t atomic_update(Word word, Update update, std::uint64_t operand,
                            std::memory_order order, Where where) noexcept {
  const InEngine in_engine;
  const Turn turn(word);
  Execution& run = turn.run;
  order = run.orders()(Orders::Of::update, order, where);
  run.memory.followable(turn.location, turn.mind(), order, run.positions);
  const std::uint32_t position = turn.choose();
  const bool is_old = !turn.is_newest(position);
  const Hash event = run.event(Op::update, &turn.object, turn.at(position).hash, operand);
  run.learn(turn.object, true);
  const std::uint64_t old = turn.load(position, order);
  const std::uint64_t value = masked(updated(update, old, operand), word.size);
  turn.store(position, order, value, true, event);
  turn.write_down(Op::update, order, is_old, old, value, where);
  return old;
}

bool atomic_compare_exchange(Word word, std::uint64_t& expected, std::uint64_t desired,
                             std::memory_order success, std::memory_order failure,
                             Where where) noexcept {
  const InEngine in_engine;
  const Turn turn(word);
  Execution& run = turn.run;
  success = run.orders()(Orders::Of::update, success, where);
  failure = run.orders()(Orders::Of::failure, failure, where);
  // It succeeds where it finds what it expects and may follow, and fails where it finds another.
  Memory::Positions found;
  run.memory.followable(turn.location, turn.mind(), success, run.positions);
  for (const std::uint32_t position : run.positions) {
    if (turn.at(position).value == expected) found.push_back(position);
  }
  run.memory.readable(turn.location, turn.mind(), failure, run.me().at_least[turn.location.index],
                      run.positions);
  for (const std::uint32_t position : run.positions) {
    if (turn.at(position).value != expected) found.push_back(position);
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  const std::uint32_t position = found[run.choose_store(found.size())];
  const bool is_old = !turn.is_newest(position);
  if (turn.at(position).value != expected) {
    run.event(Op::not_exchanged, &turn.object, turn.at(position).hash, static_cast<Hash>(failure));
    run.learn(turn.object, false);
    expected = turn.load(position, failure);
    turn.write_down(Op::not_exchanged, failure, is_old, expected, 0, where);
    return false;
  }
  const Hash event = run.event(Op::exchanged, &turn.object, turn.at(position).hash, desired);
  run.learn(turn.object, true);
  turn.load(position, success);
  turn.store(position, success, desired, true, event);
  turn.write_down(Op::exchanged, success, is_old, expected, desired, where);
  return true;
}

void atomic_destroyed(Word word) noexcept {
  if (!inside()) return;
  const InEngine in_engine;
  execution().atomic_destroyed(word);
}

void atomic_fence(std::memory_order order, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  order = run.orders()(Orders::Of::update, order, where);
  const bool is_strong = order == std::memory_order_seq_cst;
  run.step(is_strong);
  run.event(Op::fence, nullptr, static_cast<Hash>(order), is_strong ? run.memory.strong_hash() : 0);
  run.memory.fence(run.me().mind, order);
  run.trace.add({.thread = run.current(), .op = Op::fence, .order = order, .where = where});
}

void spin(Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  run.trace.add({.thread = run.current(), .op = Op::spin, .where = where});
  ModelThread& self = run.me();
  self.change_came = false;
  run.step(false, {.what = Waiting::For::change});
  bool was_fruitful = self.change_came;
  self.change_came = false;
  Hash forced = 0;
  if (!was_fruitful) {
    for (const ModelThread::Seen& seen : self.seen) {
      const Location& location = run.memory[seen.location];
      if (location.newest().place <= seen.place) continue;
      self.at_least.raise(seen.location, seen.place + 1);
      forced = mix(forced, location.name_hash);
      was_fruitful = true;
    }
  }
  self.fruitless_spins = was_fruitful ? 0 : self.fruitless_spins + 1;
  self.seen.clear();
  run.event(Op::spin, nullptr, was_fruitful ? 1 : 0, forced);
}

void cell_read(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  CellObject& cell = run.cell(address, stamp);
  run.trace.add({.thread = run.current(), .op = Op::cell_read, .object = address, .where = where});
  refuse_unordered_read(run, cell, run.me().mind.now.clock, where);
  cell.used.at[run.current()] = run.me().mind.now.clock.at[run.current()] + 1;
  if (cell.changed.at[run.current()] == 0) cell.used_at[run.current()] = where;
}

void cell_written(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  CellObject& cell = run.cell(address, stamp);
  run.trace.add({.thread = run.current(), .op = Op::cell_write, .object = address, .where = where});
  const ThreadIndex other = run.me().mind.now.clock.first_uncovered(cell.used, run.current());
  if (other != max_threads) {
    run.fail(Problem::data_race, run.trace.name_of(address, "cell") + " is written by " +
                                     name_of_thread(run.current()) + " (" + text_of(where) +
                                     ") and used by " + name_of_thread(other) + " (" +
                                     text_of(cell.used_at[other]) + "): nothing orders the two");
  }
  const std::uint32_t time = run.me().mind.now.clock.at[run.current()] + 1;
  cell.used.at[run.current()] = time;
  cell.changed.at[run.current()] = time;
  cell.used_at[run.current()] = where;
}

void cell_guessed(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  CellObject& cell = run.cell(address, stamp);
  run.trace.add({.thread = run.current(), .op = Op::cell_guess, .object = address, .where = where});
  cell.guessed[run.current()] = run.me().mind.now.clock;
}

void cell_confirmed(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  CellObject& cell = run.cell(address, stamp);
  run.trace.add({.thread = run.current(), .op = Op::cell_read, .object = address, .where = where});
  const Clock& then = cell.guessed[run.current()];
  refuse_unordered_read(run, cell, then, where);
  std::uint32_t& used = cell.used.at[run.current()];
  used = std::max(used, then.at[run.current()] + 1);
  if (cell.changed.at[run.current()] == 0) cell.used_at[run.current()] = where;
}

void cell_destroyed(const void* address, Stamp& stamp) noexcept {
  if (!inside()) return;
  const InEngine in_engine;
  execution().cell_destroyed(address, stamp);
}

}  // namespace rouse::model
