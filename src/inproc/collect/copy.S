/* Reads of the program's memory that may fault: each load stands in .tw_loads with the place where
 * its thread goes on then. Nothing here touches vector state, or the stack but for the return. */

  .macro may_fault load resume
  .pushsection .tw_loads, "a"
  .long \load, \resume
  .popsection
  .endm

  .text

/* uint64_t NAME(uint8_t* to, uint64_t from, uint64_t bytes): how many could be read, from the
 * beginning. rep movsb takes some 30 cycles before it begins. Where a load of several bytes fails,
 * `retries` goes on byte by byte. */
  .macro define_copy name retries
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  mov %rdx, %rcx
  cmp $256, %rdx
  ja .Lmany\@
.Lwords\@:
  sub $8, %rcx
  jb .Lrest\@
.Lword\@:
  mov (%rsi), %rax
  mov %rax, (%rdi)
  add $8, %rsi
  add $8, %rdi
  jmp .Lwords\@
.Lwords_end\@:
  add $8, %rcx
  .if \retries
  jmp .Lbytes\@
  .else
  jmp .Ldone\@
  .endif
.Lrest\@:
  add $8, %rcx
  test $4, %cl
  jz .Lpair\@
.Lfour\@:
  mov (%rsi), %eax
  mov %eax, (%rdi)
  add $4, %rsi
  add $4, %rdi
  sub $4, %rcx
.Lpair\@:
  test $2, %cl
  jz .Lbytes\@
.Ltwo\@:
  movzwl (%rsi), %eax
  mov %ax, (%rdi)
  add $2, %rsi
  add $2, %rdi
  sub $2, %rcx
.Lbytes\@:
  test %rcx, %rcx
  jz .Ldone\@
.Lbyte\@:
  movzbl (%rsi), %eax
  mov %al, (%rdi)
  inc %rsi
  inc %rdi
  dec %rcx
  jnz .Lbyte\@
  jmp .Ldone\@
.Lmany\@:
  rep movsb
.Ldone\@:
  mov %rdx, %rax
  sub %rcx, %rax
  ret
  may_fault .Lword\@, .Lwords_end\@
  .if \retries
  may_fault .Lfour\@, .Lbytes\@
  may_fault .Ltwo\@, .Lbytes\@
  .else
  may_fault .Lfour\@, .Ldone\@
  may_fault .Ltwo\@, .Ldone\@
  .endif
  may_fault .Lbyte\@, .Ldone\@
  may_fault .Lmany\@, .Ldone\@
  .size \name, . - \name
  .endm

  define_copy copy_loads 1
  define_copy copy_known_loads 0

/* uint64_t copy_text_loads(uint8_t* to, uint64_t from, uint64_t max): as copy_loads, up to and with
 * a zero byte. */
  .globl copy_text_loads
  .hidden copy_text_loads
  .type copy_text_loads, @function
copy_text_loads:
  xor %ecx, %ecx
.Ltext:
  cmp %rdx, %rcx
  jae .Lend
.Lletter:
  movzbl (%rsi,%rcx), %eax
  mov %al, (%rdi,%rcx)
  inc %rcx
  test %al, %al
  jnz .Ltext
.Lend:
  mov %rcx, %rax
  ret
  may_fault .Lletter, .Lend
  .size copy_text_loads, . - copy_text_loads

  .section .tw_head, "a"
  .globl collector_head
  .hidden collector_head
collector_head:
  .quad 0x3130636c6f635754
  .long collector_end
  .long tw_collect
  .long tw_trace_memory
  .long tw_trace_string
  .long tw_trace_variable
  .long tw_get_variable
  .long tw_read_memory
  .long tw_print
  .long loads_begin
  .long load_count
  .long geometry

  .section .note.GNU-stack, "", @progbits
