// Conformance cases 1 to 10: the head of a file.
#include <gtest/gtest.h>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {
namespace {

const std::string kBlock = full_block(1000, {{16, 0x401000}}).bytes();

std::string error_of(const std::string& bytes) { return Opened(bytes, "trace64").error; }

/// What a header with this JSON, and one block, is complained of; "" when it is refused.
std::string codes(const std::string& json) {
  ReadBack got(head(json) + kBlock);
  EXPECT_EQ(got.steps.size(), got.opened.source ? 1u : 0u) << json;
  std::string out = got.opened.source ? "ok" : "";
  for (const Problem& one : got.opened.problems->kept()) out += " " + one.code;
  return out;
}

TEST(Trace64, Case01EmptyFile) {
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
}

TEST(Trace64, Case02NotATrace) {
  EXPECT_NE(error_of("TRAC\1\0\0").find("ends in its header"), std::string::npos);
  EXPECT_NE(error_of("CART" + le(2, 4) + "{}").find("not a trace"), std::string::npos);
  EXPECT_NE(error_of("TRA").find("not a trace"), std::string::npos);
}

TEST(Trace64, Case03LengthBeyondTheFile) {
  const std::string error = error_of("TRAC" + le(0xffffffff, 4) + "{}");
  EXPECT_NE(error.find("4294967295"), std::string::npos) << error;
  EXPECT_NE(error.find("10"), std::string::npos) << error;
  EXPECT_NE(error_of("TRAC" + le(3, 4) + "{}").find("3 bytes long"), std::string::npos);
}

TEST(Trace64, Case04BadJson) {
  for (const std::string json : {"", "[]", "null", "{\"ver\":1", "{\"ver\":\"\xff\"}", "{]"}) {
    Opened opened(head(json), "trace64");
    EXPECT_FALSE(opened.source) << json;
    EXPECT_NE(opened.error.find("the header"), std::string::npos) << opened.error;
    ASSERT_TRUE(opened.error_at) << json;
    EXPECT_LE(*opened.error_at, 8 + json.size());
    EXPECT_GE(*opened.error_at, json.size() < 2 ? 4u : 8u);
  }
}

TEST(Trace64, Case05NulBehindTheJson) {
  const std::string json = std::string(kJson64) + '\0';
  EXPECT_EQ(codes(json), "ok");
  EXPECT_EQ(rewritten(head(json) + kBlock), head(json) + kBlock);
  EXPECT_EQ(codes(json + std::string(3, '\0')), "ok");
}

TEST(Trace64, BytesBehindTheJsonAreTold) {
  EXPECT_EQ(codes(std::string(kJson64) + '\0' + "x"), "ok odd-header");
  EXPECT_EQ(codes(std::string(kJson64) + std::string("\0\0{}\0", 5)), "ok odd-header");
  EXPECT_EQ(codes(std::string(kJson64) + "x"), "") << "that is no JSON";
  // Written again, it is one that nobody complains of.
  ReadBack again(rewritten(head(std::string(kJson64) + '\0' + "x") + kBlock));
  EXPECT_EQ(again.steps.size(), 1u);
  EXPECT_TRUE(again.opened.problems->empty());
}

TEST(Trace64, NameThatSaysTheOtherArchitecture) {
  TempFolder folder;
  const std::string narrow = head(kJson32) + full_block(1, {{8, 0x401000}}, false).bytes();
  for (const bool wide : {true, false})
    for (const char* name : {"a.trace64", "a.trace32", "a.bin"}) {
      write_file(folder.file(name), wide ? head(kJson64) + kBlock : narrow);
      ProblemLog problems;
      auto source = open_source(*InputFile::open(folder.file(name)), "", {}, problems);
      ASSERT_TRUE(source.ok());
      const bool other = name == std::string(wide ? "a.trace32" : "a.trace64");
      EXPECT_EQ(problems.count(Problem::Severity::Warning), other ? 1u : 0u) << name;
      EXPECT_EQ(problems.kept().size(), other ? 1u : 0u) << name;
      if (other) {
        EXPECT_EQ(problems.kept()[0].code, "other-architecture");
      }
    }
}

TEST(Trace64, Case06Version) {
  EXPECT_EQ(codes(R"({"arch":"x64","compression":""})"), "");
  EXPECT_EQ(codes(R"({"ver":2,"arch":"x64","compression":""})"), "");
  EXPECT_EQ(codes(R"({"ver":"1","arch":"x64","compression":""})"), "");
  EXPECT_EQ(codes(R"({"ver":1.0,"arch":"x64","compression":""})"), "ok");
  EXPECT_EQ(codes(R"({"ver":1.5,"arch":"x64","compression":""})"), "");
}

TEST(Trace64, Case07Architecture) {
  EXPECT_EQ(codes(R"({"ver":1,"compression":""})"), "ok no-architecture architecture-guessed");
  const std::string error = error_of(head(R"({"ver":1,"arch":"x86","compression":""})") + kBlock);
  EXPECT_NE(error.find("172"), std::string::npos) << error;
  EXPECT_NE(error.find("change \"arch\""), std::string::npos) << error;
  EXPECT_EQ(codes(R"({"ver":1,"arch":"arm","compression":""})"), "");
  const std::string narrow = full_block(1, {{8, 0x401000}}, false).bytes();
  ReadBack guessed(head(R"({"ver":1,"compression":""})") + narrow);
  ASSERT_EQ(guessed.steps.size(), 1u);
  EXPECT_EQ(guessed.opened.source->catalog().machine, "i386");
  EXPECT_NE(error_of(head(kJson64) + narrow), "");
}

TEST(Trace64, Case08Compression) {
  const std::string error =
      error_of(head(R"({"ver":1,"arch":"x64","compression":"lz4"})") + kBlock);
  EXPECT_NE(error.find("compressed with \"lz4\""), std::string::npos) << error;
  EXPECT_EQ(codes(R"({"ver":1,"arch":"x64"})"), "ok no-compression");
}

TEST(Trace64, Case09OddKeys) {
  EXPECT_EQ(codes(R"({"ver":1,"arch":"x64","compression":"","hash":"1234"})"), "ok odd-header");
  EXPECT_EQ(codes(R"({"ver":1,"arch":"x64","compression":"","hash":"0x12345678901234567"})"),
            "ok odd-header");
  const std::string more =
      head(R"({"zeta":[1,{}],"ver":1,"arch":"x64","compression":"","mine":true})") + kBlock;
  EXPECT_EQ(rewritten(more), more) << "unknown keys stay, in their place";
  const std::string large = R"({"ver":1,"arch":"x64","compression":"","x":")" +
                            std::string(20000, 'a') + "\"}";
  EXPECT_EQ(codes(large), "ok odd-header");
}

TEST(Trace64, Case10NoBlocks) {
  ReadBack got(head(kJson64));
  ASSERT_TRUE(got.opened.source);
  EXPECT_EQ(got.steps.size(), 0u);
  EXPECT_TRUE(got.opened.problems->empty());
  EXPECT_EQ(got.opened.source->steps()->count(), 0u);
  EXPECT_EQ(rewritten(head(kJson64)), head(kJson64));
}

}  // namespace
}  // namespace tracewell::formats::test
