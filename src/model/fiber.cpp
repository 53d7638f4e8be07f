#include "model/fiber.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <link.h>
#include <memory>
#include <sys/mman.h>
#include <vector>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace rouse::model {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::size_t page_bytes = 4096;
// The exceptions a thread is handling: two words of the C++ ABI.
constexpr std::size_t handled_exceptions_bytes = 2 * sizeof(void*);

/// The thread_local variables of the program itself, on the thread that runs the model.
struct ThreadLocals {
  char* here = nullptr;
  std::size_t bytes = 0;
  std::vector<char> initial;

  static const ThreadLocals& get() {
    static const ThreadLocals instance = [] {
      ThreadLocals found;
      ::dl_iterate_phdr(
          [](dl_phdr_info* module, std::size_t, void* out) {
            auto& locals = *static_cast<ThreadLocals*>(out);
            for (int i = 0; i < module->dlpi_phnum; ++i) {
              const auto& header = module->dlpi_phdr[i];
              if (header.p_type != PT_TLS || module->dlpi_tls_data == nullptr) continue;
              locals.here = static_cast<char*>(module->dlpi_tls_data);
              locals.bytes = header.p_memsz;
              locals.initial.assign(header.p_memsz, 0);
              std::memcpy(locals.initial.data(),
                          reinterpret_cast<const void*>(module->dlpi_addr + header.p_vaddr),
                          header.p_filesz);
            }
            return 1;  // the first module is the program
          },
          &found);
      return found;
    }();
    return instance;
  }
};

char* make_stack() {
  void* memory = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  ::mprotect(memory, page_bytes, PROT_NONE);  // what overflows is seen
  return static_cast<char*>(memory);
}

}  // namespace

struct Fiber::ThreadState {
  std::vector<char> locals = ThreadLocals::get().initial;
  char handled_exceptions[handled_exceptions_bytes] = {};
#if !defined(__x86_64__)
  ucontext_t context{};
#endif

  void begin() {
    locals = ThreadLocals::get().initial;
    std::memset(handled_exceptions, 0, sizeof handled_exceptions);
  }
  void save() {
    const ThreadLocals& program = ThreadLocals::get();
    if (program.bytes != 0) std::memcpy(locals.data(), program.here, program.bytes);
    std::memcpy(handled_exceptions, abi::__cxa_get_globals(), sizeof handled_exceptions);
  }
  void load() const {
    const ThreadLocals& program = ThreadLocals::get();
    if (program.bytes != 0) std::memcpy(program.here, locals.data(), program.bytes);
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), handled_exceptions,
                sizeof handled_exceptions);
  }
};

Fiber::Fiber() : thread_state_(std::make_unique<ThreadState>()) {}

Fiber::~Fiber() {
  if (stack_ != nullptr) ::munmap(stack_, stack_bytes);
}

#if defined(__x86_64__)

// Keeps what a function must not change (and the floating point modes) on the old stack, takes it
// from the new one. The return address is on the stack already.
asm(R"(
.pushsection .text
.globl rouse_model_switch
.type rouse_model_switch,@function
rouse_model_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size rouse_model_switch,.-rouse_model_switch
.popsection
)");
extern "C" void rouse_model_switch(void** old_stack_pointer, void* new_stack_pointer);

void Fiber::begin(Entry entry) {
  if (stack_ == nullptr) stack_ = make_stack();
  thread_state_->begin();
  auto* top = reinterpret_cast<std::uint64_t*>(stack_ + stack_bytes);
  *--top = 0;                                        // the entry never returns; now it is aligned
  *--top = reinterpret_cast<std::uintptr_t>(entry);  // where the first switch returns to
  for (int i = 0; i < 6; ++i) *--top = 0;            // rbp, rbx, r12 to r15
  *--top = 0x0000'037F'0000'1F80;                    // the modes a thread begins with
  stack_pointer_ = top;
}

void Fiber::switch_to(Fiber& next) {
  thread_state_->save();
  next.thread_state_->load();
  rouse_model_switch(&stack_pointer_, next.stack_pointer_);
}

#else

void Fiber::begin(Entry entry) {
  if (stack_ == nullptr) stack_ = make_stack();
  thread_state_->begin();
  ::getcontext(&thread_state_->context);
  thread_state_->context.uc_stack.ss_sp = stack_;
  thread_state_->context.uc_stack.ss_size = stack_bytes;
  thread_state_->context.uc_link = nullptr;
  ::makecontext(&thread_state_->context, entry, 0);
}

void Fiber::switch_to(Fiber& next) {
  thread_state_->save();
  next.thread_state_->load();
  ::swapcontext(&thread_state_->context, &next.thread_state_->context);
}

#endif

void Fiber::leave_to(Fiber& next) {
  switch_to(next);
  std::abort();  // nobody switches back to a fiber that was left
}

}  // namespace rouse::model
