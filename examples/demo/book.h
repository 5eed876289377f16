/* A tiny order book: the shared library of the demo. */
#pragma once

struct order {
  int id;
  int price;    /* cents */
  int quantity;
};

extern long matched_total; /* shares matched so far, by all threads */

/* Matches one order and returns the shares matched. Called by many threads. */
int book_match(const struct order *order, const char *customer);
