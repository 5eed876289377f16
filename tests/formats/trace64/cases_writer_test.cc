// Conformance cases 39 to 46: writing, and files that mean harm. TRACEWELL_LONG=1: those of them,
// too, that take minutes.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "formats/trace64/model.h"
#include "formats/trace64/scan/scan.h"
#include "formats/trace64/sums.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

TEST(Trace64, Case39UnmodifiedFilesStayAsTheyAre) {
  for (const bool wide : {true, false}) {
    RandomProgram program(39, wide, 3, 5);
    const std::string bytes =
        head(wide ? kJson64 : kJson32) + record(program.run(1500), {wide, false});
    EXPECT_TRUE(rewritten(bytes) == bytes);
    EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes);
  }
}

TEST(Trace64, Case40MinimalModeSaysTheSame) {
  RandomProgram program(40, true, 2, 5);
  const std::string bytes = head(kJson64) + record(program.run(1500), {});
  Opened opened(bytes, "trace64");
  const std::string minimal = saved(*opened.source, {.compat = false, .style = "minimal"});
  EXPECT_LT(minimal.size(), bytes.size());
  const auto before = registers_of(bytes);
  const auto after = registers_of(minimal);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [seq, state] : before) {
    ASSERT_EQ(state.block, after.at(seq).block) << seq;
    ASSERT_EQ(state.valid, after.at(seq).valid) << seq;
  }
}

TEST(Trace64, Case44CompatHasNoUserBlocks) {
  const std::string json = R"({"ver":1,"arch":"x64","compression":"","path":"C:\\a.exe","x":")" +
                           std::string(20000, 'a') + "\"}";
  const std::string block = full_block(1, {{16, 0x10}}).bytes();
  const std::string bytes = head(json) + block + "\x80" + le(3, 4) + "abc";
  Opened opened(bytes, "trace64");
  EXPECT_NE(left_out_by_compat(*opened.source).find("the header is written without \"x\""),
            std::string::npos);
  ASSERT_TRUE(opened.source->steps()->seek(0).ok());
  const std::string out = saved(*opened.source, {.compat = true, .style = ""});
  EXPECT_EQ(out.substr(out.size() - block.size()), block);
  EXPECT_LE(load_uint(as_bytes(out).data() + 4, 4, Endian::Little), 16384u);
  EXPECT_NE(out.find("C:\\\\a.exe"), std::string::npos);
  EXPECT_EQ(rewritten(bytes), bytes) << "without --compat, all of it stays";
}

/// Of this thread's, the least of three.
double seconds_to_read(const std::string& bytes) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    std::timespec before = {}, after = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    const ReadBack got(bytes);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    EXPECT_TRUE(got.opened.source);
    EXPECT_GE(got.steps.size(), 1u);
    least = std::min(least, static_cast<double>(after.tv_sec - before.tv_sec) +
                                static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e9);
  }
  return least;
}

TEST(Trace64, Case45HostileFilesTakeLinearTime) {
  // Each of these makes a careless reader look at everything once for every byte.
  const std::string start = head(kJson64) + full_block(1, {{16, 0x10}}).bytes();
  constexpr size_t kBytes = (size_t{4} << 20) / tracewell::test::kEach;
  std::string dumps;  // heads of full dumps that are none
  while (dumps.size() < kBytes) dumps += std::string("\0\xac\0\x81", 4).append(200, '\0');
  std::string flags;  // each block might hide an id
  while (flags.size() < kBytes / 4) flags += std::string("\0\0\0\x81", 4) + le(4, 4) + "\x90";
  for (const std::string& body : {std::string(kBytes, '\1'), std::string(kBytes, '\xac'), dumps,
                                  flags, "\x80" + le(0xfffffff0, 4) + dumps}) {
    const double all = seconds_to_read(start + body);
    const double part = seconds_to_read(start + body.substr(0, body.size() / 8));
    // A look at everything for every byte takes 64 times as long for eight times as much.
    EXPECT_LT(all, 24 * part + 0.01);
  }
}

/// A sparse file: a user block of 4 GiB, steps before and behind it.
TEST(Trace64, Case46BeyondFourGiB) {
  RandomProgram program(46, true, 2, 5);
  const auto moments = program.run(1200);
  const std::string first = head(kJson64) + record({moments.begin(), moments.begin() + 513}, {});
  const std::string all = head(kJson64) + record(moments, {});
  const uint64_t hole = 5 + uint64_t{0xfffffff0};
  TempFolder folder;
  {
    std::ofstream out(folder.file("big"), std::ios::binary);
    out << first << "\x80" << le(0xfffffff0, 4);
    out.seekp(static_cast<std::streamoff>(first.size() + hole));
    out << all.substr(first.size());
  }
  ProblemLog problems;
  auto file = InputFile::open(folder.file("big"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->bytes().size(), all.size() + hole);
  auto source = open_source(*file, "", {}, problems);
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_EQ((*source)->steps()->count(), 1199u);
  EXPECT_EQ(problems.count(), 1u);
  EXPECT_EQ(problems.kept()[0].code, "large-user-blocks") << "not copied into memory";
  StepIndex::Moment moment;
  ASSERT_TRUE((*source)->steps()->state_before(1100, moment).ok());
  EXPECT_EQ(moment.pc, moments[1100].words[16]);
  EXPECT_TRUE(written(**source, "trace64") == all);
}

/// The same file again and again in memory, as one.
class Repeated {
 public:
  /// `part` becomes as long as whole pages are.
  Repeated(const std::string& part, size_t times) : part_bytes_(part.size()), times_(times) {
    fd_ = ::memfd_create("repeated", MFD_CLOEXEC);
    EXPECT_EQ(::write(fd_, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    void* const at = ::mmap(nullptr, part_bytes_ * times, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    data_ = static_cast<uint8_t*>(at);
    for (size_t i = 0; i < times; ++i)
      EXPECT_NE(::mmap(data_ + i * part_bytes_, part_bytes_, PROT_READ, MAP_SHARED | MAP_FIXED,
                       fd_, 0),
                MAP_FAILED);
  }
  ~Repeated() {
    ::munmap(data_, part_bytes_ * times_);
    ::close(fd_);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  Bytes bytes() const { return {data_, part_bytes_ * times_}; }

 private:
  int fd_ = -1;
  uint8_t* data_ = nullptr;
  size_t part_bytes_, times_;
};

/// Two instructions more than 32 bits can count, in some 29 GB of the smallest blocks there are.
TEST(Trace64, Case46MoreStepsThan32BitsCount) {
  if (std::getenv("TRACEWELL_LONG") == nullptr) GTEST_SKIP() << "two minutes: TRACEWELL_LONG=1";
  std::string part;
  uint64_t steps = 0;
  while (part.size() < (16 << 20)) {
    part += full_block(1, {{8, 0x10}}, false).bytes();
    for (int i = 0; i < 511; ++i) part += std::string("\0\0\0\1\x90", 5);
    steps += 512;
  }
  const size_t page = 64 << 10, head = 5;  // of a user block, which fills the last page
  const size_t fill = page - (part.size() + head) % page;
  part += "\x80" + le(static_cast<uint32_t>(fill), 4) + std::string(fill, 'x');
  const Repeated file(part, (uint64_t{1} << 32) / steps + 1);
  trace64::Scan scan(trace64::kX32, 0);
  ProblemLog problems;
  scan.extend(file.bytes(), &problems, {});
  EXPECT_EQ(problems.count(), 0u);
  const uint64_t all = steps * (file.bytes().size() / part.size());
  EXPECT_GT(all, UINT32_MAX);
  EXPECT_EQ(scan.count(), all);
  const uint64_t beyond = (uint64_t{1} << 32) + 700;
  const trace64::Keyframe* keyframe = scan.keyframe_at(beyond);
  ASSERT_NE(keyframe, nullptr);
  EXPECT_EQ(keyframe->seq, beyond / 512 * 512);
  EXPECT_EQ(file.bytes()[keyframe->offset + 1], trace64::kX32.words);
}

}  // namespace
}  // namespace tracewell::formats::test
