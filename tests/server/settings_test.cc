// What `monitor set` changes of a live server.
#include "server/live/settings.h"

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tracewell::server {
namespace {

TEST(ServeSettings, SetWhatThereIs) {
  ServeSettings settings(STDERR_FILENO);
  EXPECT_TRUE(settings.set("save-dir", testing::TempDir()));
  EXPECT_FALSE(settings.set("save-dir", "/no/such/folder"));
  EXPECT_TRUE(settings.set("save-overwrite", "1"));
  EXPECT_FALSE(settings.set("save-overwrite", "2"));
  EXPECT_TRUE(settings.set("libthread-db-search-path", "/no/such/folder"));
  EXPECT_FALSE(settings.thread_db.found().ok());
  EXPECT_TRUE(settings.set("remote-debug", "1") && settings.log.packets);
  EXPECT_FALSE(settings.set("fast-tracepoints", "all")) << "that is the trace's";
  EXPECT_FALSE(settings.set("nonsense", "1"));
}

}  // namespace
}  // namespace tracewell::server
