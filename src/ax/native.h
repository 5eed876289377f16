/* What an expression that was compiled to native code and its surroundings agree on. One side is
 * axjit/, in the tracer; the other runs in the traced process, where there is no libc. C and C++.
 *
 * A compiled expression is an ordinary function of the System V ABI for x86-64,
 *
 *   struct tracewell_native_outcome expression(struct tracewell_native_context* context);
 *
 * so that a pad in assembly and a collector in C can both call it, and it promises more:
 *   - It changes flags and the general registers that its compiler names, no others; vector and x87
 *     state only if an entry of `calls` changes it. It leaves rdi as it was.
 *   - It is position independent, reads no thread-local memory, makes no system call, and calls
 *     nothing but the entries of `calls`, by the same ABI. One that does not collect, print, or ask
 *     for a computed variable calls nothing.
 *   - It uses as many bytes of stack as its compiler says, from the return address down and without
 *     what the entries use; nothing below them.
 *   - It reads the program's registers from where they were saved, which is at places relative to
 *     the context (before or behind it), as the compiler was told; only those that it named.
 * At its entry the stack is aligned as for any call, and the direction and alignment-check flags
 * are clear.
 *
 * Loads from addresses that the expression computed may fault: SIGSEGV, or SIGBUS behind the end of
 * a mapped file. The compiler lists them. Whoever sees a thread at such a load sets its program
 * counter to the load's `resume` address, drops the signal, and lets it go on: all other registers
 * are right as they are, and the expression ends with a memory access error. (Linux resets the
 * handler of a fault's signal that is blocked or ignored; who cannot have that has expressions
 * compiled so that they read through `read_memory`, which looks at what is there first.) */
#ifndef TRACEWELL_AX_NATIVE_H
#define TRACEWELL_AX_NATIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tracewell_native_context;

/* What an expression asks its surroundings to do, as ax/interpret.h's Host does it. Those that
 * return an int say whether they could; when they could not, the expression ends with the error in
 * brackets, and whatever else is to be known, such as that a buffer is full, they keep. */
struct tracewell_native_calls {
  /* [memory access error] size > 0, as large as the expression says. */
  int (*trace_memory)(struct tracewell_native_context* context, uint64_t address, uint64_t size);
  /* [memory access error] Up to and with a zero byte, at most `max` > 0 bytes. */
  int (*trace_string)(struct tracewell_native_context* context, uint64_t address, uint64_t max);
  /* [value not recorded] `value` is what the variable holds at this moment. */
  int (*trace_variable)(struct tracewell_native_context* context, uint64_t number, uint64_t value);
  /* The value of a variable that is no cell, such as a clock. */
  uint64_t (*get_variable)(struct tracewell_native_context* context, uint64_t number);
  /* [memory access error] `size` (1, 2, 4 or 8) bytes, all or none. Only of expressions that were
   * compiled to read this way; fault_address is the entry's to set. */
  int (*read_memory)(struct tracewell_native_context* context, uint64_t address, void* to,
                     uint64_t size);
  /* [print error] `format` ends in NUL and comes from outside: never hand it to printf. */
  int (*print)(struct tracewell_native_context* context, uint64_t function, uint64_t channel,
               const char* format, const uint64_t* arguments, uint64_t count);
};

/* Lives as long as the call. What its owner has to keep beside it may follow; see the registers. */
struct tracewell_native_context {
  const struct tracewell_native_calls* calls;
  /* Where cells of variables are, 8 bytes each and aligned to that, at offsets that the compiler
   * was told. They may be shared with anyone who loads and stores them whole. */
  uint64_t* variables;
  /* After a memory access error of a load: the first byte that could not be read. */
  uint64_t fault_address;
};

/* `value` is the top of the stack at the end, 0 if there is none. In `status`:
 *   bits 0-7    why it ended early, a tracewell::ax::Fault; 0 = it came to an `end`
 *   bit 8       there is no value
 *   bits 16-31  offset in the bytecode of the instruction at fault, else of the `end`
 * The bits above are 0. */
struct tracewell_native_outcome {
  uint64_t value;
  uint64_t status;
};

#define TRACEWELL_NATIVE_FAULT_MASK 0xffu
#define TRACEWELL_NATIVE_NO_VALUE 0x100u
#define TRACEWELL_NATIVE_OFFSET_SHIFT 16

#ifdef __cplusplus
}
#endif
#endif
