/* What source_travel.py steps through, forwards and backwards. It needs no library. */
static int table[8];
int total;
const int limit = 5;

static int square(int n) {
  int result = n * n; /* in square */
  return result;      /* leaves square */
}

static void fill(int count) {
  for (int i = 0; i < count; i++) { /* loop */
    table[i] = square(i);           /* calls */
    total += table[i];              /* adds */
  }
}

int main(void) {
  fill(limit);  /* fills */
  total += 100; /* adds 100 */
  return total; /* returns */
}
