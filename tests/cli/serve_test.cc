// What `serve` makes of its command line, and the thread that reads for it.
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/session.h"
#include "agent/trace_buffer.h"
#include "agent/trace_source.h"
#include "base/file.h"
#include "cli/save_folder.h"
#include "cli/serve_log.h"
#include "cli/serve_options.h"
#include "cli/server_loop.h"
#include "cli/thread_db_path.h"
#include "cli/transport.h"
#include "cli/transport_link.h"
#include "target/fake/fake_target.h"

namespace tracewell::cli {
namespace {

TEST(Comm, EveryForm) {
  struct Case {
    const char* text;
    Comm::Kind kind;
    const char *host, *port, *path;
  };
  for (const Case& one : {
           Case{"localhost:2345", Comm::Kind::Tcp, "localhost", "2345", ""},
           Case{":0", Comm::Kind::Tcp, "", "0", ""},
           Case{"tcp:host:1", Comm::Kind::Tcp, "host", "1", ""},
           Case{"tcp6:[::1]:65535", Comm::Kind::Tcp, "::1", "65535", ""},
           Case{"::1:2", Comm::Kind::Tcp, "::1", "2", ""},
           Case{"tcp6:::1:80", Comm::Kind::Tcp, "::1", "80", ""},
           Case{"[fe80::1%eth0]:7", Comm::Kind::Tcp, "fe80::1%eth0", "7", ""},
           Case{"unix:/tmp/x:1", Comm::Kind::Unix, "", "", "/tmp/x:1"},
           Case{"unix:relative", Comm::Kind::Unix, "", "", "relative"},
           Case{"/dev/ttyS0", Comm::Kind::Serial, "", "", "/dev/ttyS0"},
           Case{"-", Comm::Kind::Stdio, "", "", ""},
           Case{"stdio", Comm::Kind::Stdio, "", "", ""},
       }) {
    auto comm = parse_comm(one.text);
    ASSERT_TRUE(comm.ok()) << one.text;
    EXPECT_EQ(comm->kind, one.kind) << one.text;
    EXPECT_EQ(comm->host, one.host) << one.text;
    EXPECT_EQ(comm->port, one.port) << one.text;
    EXPECT_EQ(comm->path, one.path) << one.text;
  }
  for (const char* text : {"", "host", "host:", "host:x", "host:65536", "host:-1", "host:+1",
                           "::1::2", "tcp8:123:1", "udp:host:1", "unix:", "host:1 "})
    EXPECT_FALSE(parse_comm(text).ok()) << text;
}

Result<ServeOptions> parse(std::vector<std::string> words) {
  ServeOptions options;
  CLI::App app;
  declare_serve_options(app, options);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return Error{Errc::InvalidArgument, error.what(), {}};
  }
  TW_RETURN_IF_ERROR(finish_serve_options(app.remaining(), options));
  return options;
}

using Words = std::vector<std::string>;

TEST(ServeOptions, TheProgramsWordsAreItsOwn) {
  auto options = parse({"--once", ":1", "prog", "--once", "-x", "--", "--attach", "a b"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->once);
  EXPECT_FALSE(options->attach);
  EXPECT_EQ(options->comm, ":1");
  EXPECT_EQ(options->launch.argv, (Words{"prog", "--once", "-x", "--", "--attach", "a b"}));
}

TEST(ServeOptions, WrappersMayHaveOptions) {
  auto options = parse({"--debug", "--wrapper", "env", "-u", "HOME", "--", "--multi", "-", "prog"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->multi);
  EXPECT_EQ(options->launch.wrapper, (Words{"env", "-u", "HOME"}));
  EXPECT_EQ(options->comm, "-");
  EXPECT_EQ(options->launch.argv, Words{"prog"});
  EXPECT_FALSE(parse({"--wrapper", "env", ":1", "prog"}).ok());
  EXPECT_FALSE(parse({"--wrapper", "--", ":1", "prog"}).ok());
  EXPECT_FALSE(parse({"--wrapper", "env", "--", "--nonsense=1", ":1"}).ok());
}

TEST(ServeOptions, Flags) {
  auto options = parse({"--no-disable-randomization", "--no-startup-with-shell", "--debug=all",
                        "--remote-debug", "--debug-file=x", "--debug-format=none", ":1", "prog"});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->launch.disable_randomization);
  EXPECT_FALSE(options->launch.startup_with_shell);
  EXPECT_EQ(options->debug, "all");
  EXPECT_TRUE(options->remote_debug);
  EXPECT_EQ(options->debug_file, "x");
  auto defaults = parse({":1", "prog"});
  ASSERT_TRUE(defaults.ok());
  EXPECT_TRUE(defaults->launch.disable_randomization);
  EXPECT_TRUE(defaults->launch.startup_with_shell);
  EXPECT_EQ(defaults->debug, "");
}

TEST(ServeOptions, Attach) {
  auto options = parse({"--attach", ":1", "4711"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->pid, 4711);
  auto old = parse({":1", "--attach", "4711"});
  ASSERT_TRUE(old.ok());
  EXPECT_TRUE(old->attach);
  EXPECT_EQ(old->pid, 4711);
  for (const Words& words : {Words{"--attach", ":1"}, Words{"--attach", ":1", "0"},
                             Words{"--attach", ":1", "1", "2"},
                             Words{"--attach", ":1", "99999999999"}, Words{":1"}, Words{},
                             Words{"--multi"}})
    EXPECT_FALSE(parse(words).ok());
}

TEST(ServeOptions, PacketsToDisableMustBeKnown) {
  const auto disabled = [](const std::string& names) {
    return parse({"--disable-packet", names, ":1", "prog"});
  };
  using Names = std::set<std::string, std::less<>>;
  EXPECT_EQ(disabled("threads,T,")->disabled,
            (Names{"vCont", "Tthread", "qC", "qfThreadInfo", "Tstop"}));
  EXPECT_EQ(disabled("qXfer:threads:read,QTSave,vCont")->disabled,
            (Names{"qXfer:threads:read", "QTSave", "vCont"}));
  EXPECT_TRUE(disabled("")->disabled.empty());
  for (const char* names : {"bogus", "qC,bogus", "vCont;", "qc", "Tstop"}) {
    const auto refused = disabled(names);
    ASSERT_FALSE(refused.ok()) << names;
    for (const char* word : {"--disable-packet", "'", " threads ", " QTSave ", " vCont "})
      EXPECT_NE(refused.error().message.find(word), std::string::npos) << word;
  }
}

TEST(ThreadDbPath, IsSearchedFolderByFolder) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("thread-db-{}", ::getpid());
  fs::create_directories(folder / "empty");
  fs::create_directories(folder / "full");
  fs::create_directories(folder / "odd" / "libthread_db.so.1");
  ASSERT_TRUE(OutputFile::create((folder / "full" / "libthread_db.so.1").string())->commit().ok());
  ThreadDbPath path;
  EXPECT_TRUE(path.found().ok());
  const auto found = [&](std::string_view text) {
    std::string filled(text);
    for (size_t at; (at = filled.find('%')) != std::string::npos;)
      filled.replace(at, 1, folder.string());
    path.set(filled);
    return path.found().ok();
  };
  EXPECT_FALSE(found("/foo/bar"));
  EXPECT_FALSE(found("%/empty:%/odd:$pdir"));
  EXPECT_FALSE(found("%/full/libthread_db.so.1"));
  EXPECT_TRUE(found("%/empty:%/full"));
  EXPECT_TRUE(found("/foo/bar:$sdir"));
  EXPECT_TRUE(found(""));
  fs::remove_all(folder);
}

TEST(ServeLog, Settings) {
  ServeLog log(STDERR_FILENO);
  EXPECT_TRUE(log.set("debug", "1") && log.debug);
  EXPECT_TRUE(log.set("remote-debug", "1") && log.packets);
  EXPECT_TRUE(log.set("remote-debug", "0") && !log.packets);
  EXPECT_TRUE(log.set("debug-format", "timestamp") && log.timestamps);
  EXPECT_FALSE(log.set("debug", "2"));
  EXPECT_FALSE(log.set("debug-format", "colours"));
  EXPECT_FALSE(log.set("debug-file", "/no/such/folder/x"));
  EXPECT_FALSE(log.set("nonsense", "1"));
}

/// Hands out one end of a socket pair after the other.
class Pairs final : public Transport {
 public:
  Pairs() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ready_ = UniqueFd(ends[0]);
    bell_ = UniqueFd(ends[1]);
  }
  std::string announcement() const override { return "Listening"; }
  int listen_fd() const override { return ready_.get(); }
  Result<Connection> accept() override {
    pollfd knocked{ready_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&knocked, 1, 0), 1) << "nobody is there, and to wait would be forever";
    char c;
    EXPECT_EQ(::read(ready_.get(), &c, 1), 1);
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    debugger = UniqueFd(ends[0]);
    Connection connection;
    connection.input = UniqueFd(ends[1]);
    connection.peer = "a debugger";
    return connection;
  }
  void knock() { EXPECT_EQ(::write(bell_.get(), "x", 1), 1); }
  UniqueFd debugger;

 private:
  UniqueFd ready_, bell_;
};

/// A pipe that is readable when the server shall end.
struct Quit {
  Quit() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  ~Quit() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void now() { EXPECT_EQ(::write(ends[1], "q", 1), 1); }
  int ends[2];
};

TEST(SaveFolder, LeadsNowhereElse) {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / fmt::format("save-folder-{}", ::getpid());
  const fs::path folder = top / "folder";
  fs::create_directories(folder / "inner");
  fs::create_symlink(top, folder / "out");
  fs::create_symlink(top / "target", folder / "leaf");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  SaveFolder saves;
  const auto save = [&](std::string_view name) {
    target::FakeTarget target;
    agent::TraceBuffer buffer;
    agent::TraceBufferSource source(buffer, {});
    return saves.save(name, source, {}).ok();
  };
  EXPECT_FALSE(save("a.tf"));
  EXPECT_FALSE(saves.set_folder((top / "none").string()).ok());
  EXPECT_TRUE(saves.set_folder(folder.string()).ok());
  EXPECT_TRUE(save("a.tf"));
  EXPECT_FALSE(save("a.tf"));
  EXPECT_TRUE(save("inner/../inner/b.tf"));
  for (std::string_view name : {"", ".", "..", "inner/", "../x.tf", "inner/../../x.tf", "out/x.tf",
                                "leaf", "fifo", "/x.tf", "none/x.tf"})
    EXPECT_FALSE(save(name)) << name;
  EXPECT_FALSE(save(std::string_view("x\0.tf", 5)));
  // Absolute names that lead inside are as good as relative ones, also through the link by which
  // the folder itself is known.
  EXPECT_TRUE(save((folder / "absolute.tf").string()));
  EXPECT_TRUE(save((folder / "inner" / "absolute.tf").string()));
  fs::create_symlink(folder, top / "known-as");
  EXPECT_TRUE(save((top / "known-as" / "linked.tf").string()));
  for (const fs::path& name : {folder / "out" / "x.tf", folder / ".." / "x.tf", top / "x.tf",
                               folder / "inner" / ".." / ".." / "x.tf", folder, folder / "inner",
                               fs::path(folder.string() + "-sibling") / "x.tf"})
    EXPECT_FALSE(save(name.string())) << name;
  saves.set_overwrite(true);
  EXPECT_TRUE(save("a.tf"));
  for (std::string_view name : {"out/x.tf", "leaf", "fifo"}) EXPECT_FALSE(save(name)) << name;
  EXPECT_TRUE(saves.set_folder("").ok());
  EXPECT_FALSE(save("a.tf"));
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(top))
    files += fs::is_regular_file(entry.symlink_status());
  EXPECT_EQ(files, 5u);
  fs::remove_all(top);
}

bool saves_no_frames(const SaveFolder& saves, std::string_view name) {
  agent::TraceBuffer buffer;
  agent::TraceBufferSource source(buffer, {});
  return saves.save(name, source, {}).ok();
}

TEST(SaveFolder, IsHeldFromTheMomentThatItIsNamed) {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / fmt::format("save-held-{}", ::getpid());
  for (const char* name : {"first", "second"}) fs::create_directories(top / name);
  fs::create_symlink("first", top / "link");
  SaveFolder saves;
  ASSERT_TRUE(saves.set_folder((top / "link").string()).ok());
  fs::remove(top / "link");
  fs::create_symlink("second", top / "link");
  EXPECT_TRUE(saves_no_frames(saves, "a.tf"));
  fs::rename(top / "first", top / "moved");
  fs::create_symlink("second", top / "first");
  EXPECT_TRUE(saves_no_frames(saves, "b.tf"));
  EXPECT_FALSE(saves_no_frames(saves, (top / "first" / "c.tf").string())) << "it is elsewhere";
  EXPECT_TRUE(fs::exists(top / "moved" / "a.tf") && fs::exists(top / "moved" / "b.tf"));
  EXPECT_TRUE(fs::is_empty(top / "second"));
  fs::remove_all(top);
}

TEST(SaveFolder, LinksOfOthersDoNotLeadThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can make another user's link";
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / fmt::format("save-theirs-{}", ::getpid());
  fs::create_directories(top / "target" / "inner");
  fs::create_symlink("target", top / "link");
  SaveFolder saves;
  EXPECT_TRUE(saves.set_folder((top / "link").string()).ok()) << "a link of one's own";
  ASSERT_EQ(::lchown((top / "link").c_str(), 65534, 65534), 0);
  for (const fs::path& name : {top / "link", top / "link" / "inner"}) {
    const Status refused = saves.set_folder(name.string());
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_NE(refused.error().message.find("symbolic link of user"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_TRUE(saves_no_frames(saves, "a.tf")) << "the one before stays";
  fs::remove_all(top);
}

TEST(ServeLog, WaitsForNoReaderWhileSignalsAreOnlyNoted) {
  const std::string fifo = fmt::format("{}fifo-{}", testing::TempDir(), ::getpid());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Quit quit;
  ServeLog log(STDERR_FILENO);
  log.quit_fd = quit.ends[0];
  EXPECT_FALSE(log.set("debug-file", fifo)) << "nobody reads it";
  const UniqueFd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(log.set("debug-file", fifo));
  ::unlink(fifo.c_str());
}

/// As many frames as a batch has room for, and then it breaks.
class Breaking final : public Source {
 public:
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    if (std::exchange(broken_, true)) return {Errc::Io, "no more"};
    batch.clear();
    Frame frame;
    frame.tracepoint = 1;
    batch.add().body = frame;
    return true;
  }

 private:
  Catalog catalog_;
  bool broken_ = false;
};

/// It has more frames, whoever asks.
class Endless final : public Source {
 public:
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    ++batches;
    batch.clear();
    Frame frame;
    frame.tracepoint = 1;
    batch.add().body = frame;
    return true;
  }
  int batches = 0;

 private:
  Catalog catalog_;
};

TEST(SaveFolder, WritesFilesWholeOrNotAtAll) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("save-whole-{}", ::getpid());
  fs::create_directories(folder);
  SaveFolder saves;
  ASSERT_TRUE(saves.set_folder(folder.string()).ok());
  saves.set_overwrite(true);
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  Breaking first;
  const Status broken = saves.save("a.tf", first, {});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message, "no more");
  EXPECT_EQ(files(), 0);
  auto old = OutputFile::create((folder / "a.tf").string());
  ASSERT_TRUE(old.ok() && old->write(std::string_view("old")).ok() && old->commit().ok());
  Breaking second;
  EXPECT_FALSE(saves.save("a.tf", second, {}).ok());
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(fs::file_size(folder / "a.tf"), 3u);
  Endless third;
  const Status left = saves.save("a.tf", third, [&]() -> Status {
    if (third.batches < 3) return {};
    return {Errc::Target, "interrupted"};
  });
  ASSERT_FALSE(left.ok());
  EXPECT_EQ(left.error().message, "interrupted");
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(fs::file_size(folder / "a.tf"), 3u);
  fs::remove_all(folder);
}

TEST(Link, BringsWhatTheDebuggerSends) {
  Pairs pairs;
  Quit quit;
  std::atomic<int> wakes = 0;
  Link link(pairs, quit.ends[0], [&] { ++wakes; });
  pairs.knock();
  EXPECT_FALSE(link.connected());
  link.open();
  while (!link.connected()) link.wait();
  EXPECT_EQ(link.peer(), "a debugger");
  // More than the inbox takes at once.
  const std::string sent(Link::kInboxMax * 3, 'z');
  std::thread debugger([&] {
    ::fcntl(pairs.debugger.get(), F_SETFL, 0);
    for (size_t at = 0; at < sent.size();) {
      const ssize_t size = ::write(pairs.debugger.get(), sent.data() + at, sent.size() - at);
      ASSERT_GT(size, 0);
      at += static_cast<size_t>(size);
    }
    pairs.debugger.reset();
  });
  std::string got;
  while (!link.lost()) {
    got += link.take_input();
    if (!link.lost()) link.wait();
  }
  debugger.join();
  EXPECT_EQ(got + link.take_input(), sent);
  EXPECT_EQ(wakes, 0);
  link.close();
  EXPECT_FALSE(link.connected());
  pairs.knock();
  link.open();
  while (!link.connected()) link.wait();
  EXPECT_TRUE(link.send("hello"));
  char buffer[5];
  EXPECT_EQ(::read(pairs.debugger.get(), buffer, 5), 5);
  quit.now();
  while (!link.quitting()) link.wait();
}

TEST(Link, WakesWhoeverIsBusyElsewhere) {
  Pairs pairs;
  Quit quit;
  std::atomic<int> wakes = 0;
  Link link(pairs, quit.ends[0], [&] {
    ++wakes;
    wakes.notify_one();
  });
  link.open();
  for (int i = 0; i < 100; ++i) {
    wakes = 0;
    {
      const Link::Watch watch(link);
      pairs.knock();
      wakes.wait(0);
    }
    ASSERT_TRUE(link.connected());
    for (const std::string word : {"one", "two"}) {
      wakes = 0;
      {
        const Link::Watch watch(link);
        ASSERT_EQ(::write(pairs.debugger.get(), word.data(), 3), 3);
        wakes.wait(0);
      }
      ASSERT_EQ(link.take_input(), word);
      ASSERT_EQ(::write(pairs.debugger.get(), "x", 1), 1);  // nobody watches
      while (link.take_input().empty()) link.wait();
    }
    link.close();
    link.open();
    char end = 0;
    ::fcntl(pairs.debugger.get(), F_SETFL, 0);
    ASSERT_EQ(::read(pairs.debugger.get(), &end, 1), 0);
  }
  const Link::Watch watch(link);
  wakes = 0;
  quit.now();
  wakes.wait(0);
  EXPECT_TRUE(link.quitting());
}

TEST(Link, GivesUpSendingWhenTheServerEnds) {
  Pairs pairs;
  Quit quit;
  Link link(pairs, quit.ends[0], [] {});
  pairs.knock();
  link.open();
  while (!link.connected()) link.wait();
  // The debugger reads nothing.
  EXPECT_TRUE(link.send(std::string(10'000'000, 'x')));
  EXPECT_FALSE(link.is_sent());
  std::thread ender([&] { quit.now(); });
  const auto begin = std::chrono::steady_clock::now();
  link.finish_sending(60'000, 60'000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_TRUE(link.quitting());
  EXPECT_FALSE(link.is_sent());
  ender.join();
}

TEST(ServerLoop, EndsWithItsOnlyConnection) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  ASSERT_TRUE(target.learn("process 9 attached").ok());
  Pairs pairs;
  Quit quit;
  std::string said;
  ServerOptions options;
  options.once = true;
  options.session.notice = [&](std::string_view line) { said += std::string(line) + "\n"; };
  Link link(pairs, quit.ends[0], [&] { target.wake(); });
  ServerLoop loop(target, nullptr, link, options);
  pairs.knock();
  std::thread debugger([&] {
    while (!link.connected()) ::usleep(100);
    EXPECT_EQ(::write(pairs.debugger.get(), "$?#3f", 5), 5);
    ::fcntl(pairs.debugger.get(), F_SETFL, 0);
    char buffer[4];
    EXPECT_EQ(::read(pairs.debugger.get(), buffer, 4), 4);
    EXPECT_EQ(std::string_view(buffer, 4), "+$T0");
    pairs.debugger.reset();
  });
  EXPECT_EQ(loop.run(), ServerEnd::Done);
  debugger.join();
  EXPECT_EQ(said, "a debugger\nKilling process(es): 7\nDetaching process(es): 9\n");
  EXPECT_EQ(target.take_calls(), (Words{"kill 7", "detach 9"}));
}

TEST(ServerLoop, EndsWhenAsked) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  Pairs pairs;
  Quit quit;
  Link link(pairs, quit.ends[0], [&] { target.wake(); });
  ServerLoop loop(target, nullptr, link, {});
  quit.now();
  EXPECT_EQ(loop.run(), ServerEnd::Interrupted);
  EXPECT_EQ(target.take_calls(), Words{"kill 7"});
}

}  // namespace
}  // namespace tracewell::cli
