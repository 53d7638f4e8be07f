// rouse_debug_layout: where in memory the tasks of a process are, what they wait for, and what the
// bits mean: for tools/rouse-debug, gdb and lldb, which read it from a process or a core file.
// The compiler computes all of it, so that it can't be wrong for the library that it is in. It has
// a section of its own, .rouse_debug: found also without symbols and debug information.
//
// The table: a head, a value of eight bytes for each name, the names. A tool asks for what it needs
// by name, so one may be added at any place. `version` changes only if what is there already means
// something else.
//
// A pointer to a member is stored as it is: in the Itanium C++ ABI it is the member's offset.
#include "exec/task/debug_layout.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "rouse/core/internal/frame.hpp"
#include "rouse/exec/internal/task_header.hpp"
#include "rouse/sync/internal/permits.hpp"
#include "rouse/version.hpp"

#include "exec/blocking/blocking_core.hpp"
#include "exec/fork/branch_group.hpp"
#include "exec/local/local_core.hpp"
#include "exec/pool/pool_core.hpp"
#include "exec/task/task_transitions.hpp"
#include "sight/names.hpp"

// What the model checker sees has other atomics, and no tool looks at it.
#if !defined(ROUSE_MODEL)

namespace rouse::sight {
/// Null in a static program that names nothing.
[[gnu::weak]] extern char names_place[];
}  // namespace rouse::sight

// The names and what they stand for: a member, a number, an address.
#define ROUSE_DEBUG_TABLE(ENTRY) \
  ENTRY(self, &rouse_debug_layout) \
  /* Who has tasks. */ \
  ENTRY(examinables, &examinables_place) \
  ENTRY(Examinables_all, &Examinables::all) \
  ENTRY(RingLink_next, &RingLink::next_) \
  ENTRY(Examinable_kind, &Examinable::kind_) \
  ENTRY(Kind_pool, Examinable::Kind::pool) \
  ENTRY(Kind_local, Examinable::Kind::local) \
  ENTRY(Kind_blocking, Examinable::Kind::blocking) \
  ENTRY(SharedScheduler_refs, &SharedScheduler::refs_) \
  ENTRY(PoolCore_workers, &PoolCore::workers_) \
  ENTRY(PoolCore_outside, &PoolCore::outside_) \
  ENTRY(PoolCore_closing, &PoolCore::closing_) \
  ENTRY(PoolCore_is_examined_no_more, &PoolCore::is_examined_no_more_) \
  ENTRY(Worker_table, &Worker::table) \
  ENTRY(Worker_current, &Worker::current) \
  ENTRY(CurrentTask_task, &CurrentTask::task_) \
  ENTRY(TaskTable_first, &TaskTable::first_) \
  ENTRY(Chunk_slots, &TaskTable::Chunk::slots) \
  ENTRY(Chunk_size, &TaskTable::Chunk::size) \
  ENTRY(Chunk_next, &TaskTable::Chunk::next) \
  ENTRY(LocalCore_refs, &LocalCore::refs_) \
  ENTRY(LocalCore_tasks, &LocalCore::tasks_) \
  ENTRY(LocalCore_closing, &LocalCore::closing_) \
  ENTRY(LocalCore_closed, &LocalCore::closed_) \
  ENTRY(LocalCore_inbox_first, &LocalCore::inbox_first_) \
  ENTRY(LocalCore_adopt_it, LocalCore::adopt_it) \
  ENTRY(LocalCore_run_in, &LocalCore::run_in_) \
  ENTRY(ThreadContext_task, &ThreadContext::task) \
  ENTRY(ThreadContext_outer, &ThreadContext::outer) \
  ENTRY(BlockingCore_running, &BlockingCore::running_) \
  ENTRY(BlockingCore_queue, &BlockingCore::queue_) \
  ENTRY(TaskList_first, &TaskList::first_) \
  ENTRY(Call_id, &BlockingCore::Call::id) \
  ENTRY(Call_spawned_at, &BlockingCore::Call::spawned_at) \
  ENTRY(Call_name, &BlockingCore::Call::name) \
  ENTRY(Call_name_size, sizeof(BlockingCore::Call::name)) \
  /* A task. */ \
  ENTRY(TaskHeader_state, &TaskHeader::state) \
  ENTRY(TaskHeader_vtable, ROUSE_OFFSET_OF(TaskHeader, vtable)) \
  ENTRY(TaskHeader_queue_next, &TaskHeader::queue_next) \
  ENTRY(TaskHeader_spawned_at, &TaskHeader::spawned_at) \
  ENTRY(TaskHeader_id_low, &TaskHeader::id_low_) \
  ENTRY(TaskHeader_id_high, &TaskHeader::id_high_) \
  ENTRY(TaskHeader_inbox_marks, &TaskHeader::inbox_marks) \
  ENTRY(TaskHeader_content, &TaskHeader::content) \
  ENTRY(TaskHeader_size, sizeof(TaskHeader)) \
  ENTRY(Content_future, TaskHeader::Content::future) \
  ENTRY(TaskState_word, &TaskState::word) \
  ENTRY(TaskState_active, TaskState::active) \
  ENTRY(TaskState_complete, TaskState::complete) \
  ENTRY(TaskState_join_interest, TaskState::join_interest) \
  ENTRY(TaskState_away, TaskState::away) \
  ENTRY(TaskState_ref_shift, ref_shift) \
  ENTRY(InboxMarks_touched, InboxMarks::touched) \
  ENTRY(TaskVTable_outcome_offset, &TaskVTable::outcome_offset) \
  ENTRY(TaskVTable_name_offset, &TaskVTable::name_offset) \
  ENTRY(TaskVTable_shape, &TaskVTable::shape) \
  ENTRY(SpawnPlace_word, &SpawnPlace::word_) \
  ENTRY(SpawnPlace_is_code, SpawnPlace::is_code) \
  /* What it waits for. */ \
  ENTRY(Frame_awaited, &Frame::awaited_) \
  ENTRY(Frame_link, &Frame::link_) \
  ENTRY(Frame_where, &Frame::where_) \
  ENTRY(Frame_state, &Frame::state_) \
  ENTRY(Frame_State_root, Frame::State::root) \
  ENTRY(Frame_behind_functions, frame_behind_functions) \
  ENTRY(Leaf_type, &Leaf::type) \
  ENTRY(LeafType_shape, &LeafType::shape) \
  ENTRY(LeafType_future_offset, &LeafType::future_offset) \
  ENTRY(Shape_label, &sight::Shape::label) \
  ENTRY(Shape_parts, &sight::Shape::parts) \
  ENTRY(Shape_size, &sight::Shape::size) \
  ENTRY(Shape_kind, &sight::Shape::kind) \
  ENTRY(Shape_count, &sight::Shape::count) \
  ENTRY(Part_offset, &sight::Part::offset) \
  ENTRY(Part_shape, &sight::Part::shape) \
  ENTRY(Part_bytes, sizeof(sight::Part)) \
  ENTRY(Permits_state, &Permits::state_) \
  ENTRY(Permits_shift, Permits::permit_shift) \
  ENTRY(Permits_holder, &Permits::holder_) \
  ENTRY(BranchGroup_cancelled, &BranchGroup::cancelled_) \
  ENTRY(BranchGroup_is_lost, &BranchGroup::is_lost_) \
  ENTRY(BranchGroup_enrolled, &BranchGroup::enrolled_) \
  ENTRY(BranchGroup_ended, &BranchGroup::ended_) \
  ENTRY(BranchGroup_awaited, &BranchGroup::awaited_) \
  ENTRY(BranchGroup_all, BranchGroup::all) \
  ENTRY(BranchGroup_waker, &BranchGroup::waker_) \
  ENTRY(BranchGroup_tasks, &BranchGroup::tasks_) \
  ENTRY(BranchGroup_promised, &BranchGroup::promised_) \
  ENTRY(RawWaker_vtable, &RawWaker::vtable_) \
  ENTRY(Wait_opaque, sight::Wait::opaque) \
  ENTRY(Wait_lock, sight::Wait::lock) \
  ENTRY(Wait_shared, sight::Wait::shared) \
  ENTRY(Wait_permits, sight::Wait::permits) \
  ENTRY(Wait_receive, sight::Wait::receive) \
  ENTRY(Wait_send, sight::Wait::send) \
  ENTRY(Wait_notify, sight::Wait::notify) \
  ENTRY(Wait_cell, sight::Wait::cell) \
  ENTRY(Wait_init, sight::Wait::init) \
  ENTRY(Wait_join, sight::Wait::join) \
  ENTRY(Wait_sleep, sight::Wait::sleep) \
  ENTRY(Wait_descriptor, sight::Wait::descriptor) \
  ENTRY(Wait_blocking, sight::Wait::blocking) \
  ENTRY(Wait_turn, sight::Wait::turn) \
  ENTRY(Wait_never, sight::Wait::never) \
  ENTRY(Wait_fork, sight::Wait::fork) \
  ENTRY(Wait_scope, sight::Wait::scope) \
  ENTRY(Wait_all_of, sight::Wait::all_of) \
  ENTRY(Wait_any_of, sight::Wait::any_of) \
  ENTRY(Wait_one, sight::Wait::one) \
  ENTRY(Wait_chain, sight::Wait::chain) \
  ENTRY(Wait_branch, sight::Wait::branch) \
  ENTRY(Wait_pointer, sight::Wait::pointer) \
  ENTRY(Wait_maybe, sight::Wait::maybe) \
  ENTRY(Wait_erased, sight::Wait::erased) \
  ENTRY(Wait_array, sight::Wait::array) \
  ENTRY(Wait_list, sight::Wait::list) \
  /* Names of resources. */ \
  ENTRY(named, sight::names_place) \
  ENTRY(Names_first, &sight::Names::first) \
  ENTRY(Names_buckets, sight::Names::buckets) \
  ENTRY(Named_resource, &sight::Named::resource_) \
  ENTRY(Named_name, &sight::Named::name_) \
  ENTRY(Named_next, &sight::Named::next_) \
  /* Of the standard library, whose members have no names: tests/sight/debug_layout_test.cpp. */ \
  ENTRY(source_location_file, 0) \
  ENTRY(source_location_function, sizeof(void*)) \
  ENTRY(source_location_line, 2 * sizeof(void*)) \
  ENTRY(source_location_column, 2 * sizeof(void*) + 4) \
  ENTRY(string_data, 0) \
  ENTRY(vector_begin, 0) \
  ENTRY(vector_end, sizeof(void*))

namespace rouse::internal {

// Both compilers know the offset of a reference, to which there is no pointer to member.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#define ROUSE_OFFSET_OF(type, member) __builtin_offsetof(type, member)

constexpr std::size_t frame_behind_functions = 2 * sizeof(void*);  // see Frame::handle

// Most of these are private. But in the arguments of an explicit instantiation a private name may
// stand: so a template defines a function that tells the value, for the tag that is named after it.
namespace debug_layout {
#define ROUSE_TAG(name, ...) \
  struct name { \
    friend constexpr auto value_of(name); \
  };
ROUSE_DEBUG_TABLE(ROUSE_TAG)
template <class Tag, auto Value>
struct Tell {
  friend constexpr auto value_of(Tag) { return Value; }
};
#define ROUSE_TELL(name, ...) template struct Tell<name, __VA_ARGS__>;
ROUSE_DEBUG_TABLE(ROUSE_TELL)
}  // namespace debug_layout
#pragma GCC diagnostic pop

/// A member of a base, as a member of the class: so it tells where the base is, too. The base may
/// be a private one: hence the cast.
template <class T, class Base, class Member>
constexpr auto in_class(Member Base::* member) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
  return (Member T::*)(member);
#pragma GCC diagnostic pop
}
template <class T, class Member>
T class_of(Member T::*);
using CallOfPool = decltype(class_of(value_of(debug_layout::Call_id())));
constexpr auto link_of_ring = value_of(debug_layout::RingLink_next());
constexpr auto refs_of_scheduler = value_of(debug_layout::SharedScheduler_refs());
#define ROUSE_DEBUG_BASES(ENTRY) \
  ENTRY(Examinable_link, in_class<Examinable>(link_of_ring)) \
  ENTRY(PoolCore_link, in_class<PoolCore>(link_of_ring)) \
  ENTRY(LocalCore_link, in_class<LocalCore>(link_of_ring)) \
  ENTRY(BlockingCore_link, in_class<BlockingCore>(link_of_ring)) \
  ENTRY(Call_link, in_class<CallOfPool>(link_of_ring)) \
  ENTRY(PoolCore_refs, in_class<PoolCore>(refs_of_scheduler)) \
  ENTRY(BlockingCore_refs, in_class<BlockingCore>(refs_of_scheduler))

/// As it is stored: in eight bytes.
template <class T>
constexpr auto stored(T value) noexcept {
  static_assert(sizeof(T) <= 8);  // NOLINT(bugprone-sizeof-expression) of a pointer as well
  if constexpr (std::is_member_pointer_v<T> || std::is_pointer_v<T>) {
    return value;
  } else {
    return static_cast<std::int64_t>(value);
  }
}

enum class LayoutEntry : std::uint32_t {
#define ROUSE_ENTRY(name, ...) name,
  ROUSE_DEBUG_TABLE(ROUSE_ENTRY) ROUSE_DEBUG_BASES(ROUSE_ENTRY) count
};

struct DebugLayout {
#define ROUSE_NAME(name, ...) #name "\n"
#define ROUSE_TOLD(name, ...) \
  decltype(stored(value_of(debug_layout::name()))) name = stored(value_of(debug_layout::name()));
#define ROUSE_OF_BASE(name, ...) decltype(stored(__VA_ARGS__)) name = __VA_ARGS__;
  // Nothing that a text may have by chance.
  unsigned char magic[16] = {'r', 'o', 'u', 's', 'e',  ' ', 'l',  'a',
                             'y', 'o', 'u', 't', 0xff, 0,   '\r', '\n'};
  std::uint32_t version = 1;
  LayoutEntry count = LayoutEntry::count;  // of the values
  char library[16] = ROUSE_VERSION;
  ROUSE_DEBUG_TABLE(ROUSE_TOLD)
  ROUSE_DEBUG_BASES(ROUSE_OF_BASE)
  char names[sizeof(ROUSE_DEBUG_TABLE(ROUSE_NAME) ROUSE_DEBUG_BASES(ROUSE_NAME))] =
      ROUSE_DEBUG_TABLE(ROUSE_NAME) ROUSE_DEBUG_BASES(ROUSE_NAME);
};

[[gnu::section(".rouse_debug"), gnu::used]] constinit const DebugLayout rouse_debug_layout;

// What the values mean.
static_assert(offsetof(DebugLayout, names) ==
              40 + 8 * static_cast<std::size_t>(LayoutEntry::count));
static_assert(sizeof(atomic<std::uint64_t>) == 8 && sizeof(atomic<std::uint32_t>) == 4 &&
              sizeof(atomic<bool>) == 1 && sizeof(Cell<std::size_t>) == sizeof(std::size_t) &&
              sizeof(Cell<TaskHeader*>) == sizeof(TaskHeader*));
static_assert(sizeof(std::unique_ptr<Worker>) == sizeof(Worker*));
static_assert(sizeof(Waker) == sizeof(RawWaker) && sizeof(JoinHandle<void>) == sizeof(TaskHeader*));
static_assert(sizeof(sight::Wait) == 1 && sizeof(TaskHeader::Content) == 1);

}  // namespace rouse::internal

#endif
