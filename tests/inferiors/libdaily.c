// A library that is loaded late: its thread-local block is made for a thread at the first use.
__thread int in_library = 42;
static __thread char padding[64];

int* library_own(void) {
  padding[0] = 1;
  return &in_library;
}
