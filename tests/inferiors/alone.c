// build: -static
// Without shared libraries. Exits with 3.
int main(void) { return 3; }
