/* What make_fixtures.sh traces: eight hits. */
volatile int number;
void count(void) { ++number; }
void done(void) {}
int main(void) {
  int i;
  for (i = 0; i < 8; ++i) count();
  done();
  return 0;
}
