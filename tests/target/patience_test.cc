#include "target/linux/stops/patience.h"

#include <csignal>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>

namespace tracewell::target::live {
namespace {

/// The next knock for this thread, which keeps the signal pending until then.
bool hears_a_knock(int seconds) {
  sigset_t knock;
  sigemptyset(&knock);
  sigaddset(&knock, Nudger::kKnock);
  const timespec patience{seconds, 0};
  return sigtimedwait(&knock, nullptr, &patience) == Nudger::kKnock;
}

class Knocks : public testing::Test {
 protected:
  Knocks() {
    sigset_t knock;
    sigemptyset(&knock);
    sigaddset(&knock, Nudger::kKnock);
    pthread_sigmask(SIG_BLOCK, &knock, &before_);
  }
  ~Knocks() override { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  Bell bell_;  // never hung up, and so silent
  Nudger nudger_{bell_};

 private:
  sigset_t before_{};
};

/// A wait may begin while the knock of the one before it is under way; ThreadSanitizer looks on.
TEST_F(Knocks, EachWaitHearsItsOwn) {
  for (int i = 0; i < 5; ++i) {
    const Nudger::Wait wait(nudger_, true);
    EXPECT_TRUE(hears_a_knock(60)) << i;
  }
}

TEST_F(Knocks, GoToTheThreadThatWaits) {
  std::thread other([&] {
    const Nudger::Wait wait(nudger_, true);
    EXPECT_TRUE(hears_a_knock(60));
  });
  other.join();
  const Nudger::Wait wait(nudger_, true);
  EXPECT_TRUE(hears_a_knock(60));
}

TEST_F(Knocks, AreForThoseWhoAskForThem) {
  const Nudger::Wait wait(nudger_);
  EXPECT_FALSE(hears_a_knock(1));
}

}  // namespace
}  // namespace tracewell::target::live
