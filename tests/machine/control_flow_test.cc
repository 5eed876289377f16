#include "machine/control_flow.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/hex.h"

namespace tracewell::machine::test {
namespace {

struct Case {
  const char* code;
  uint8_t length;
  Flow flow;
  const char* text;  // at 0x401000
};

void expect_cases(std::string_view machine, const std::vector<Case>& cases) {
  const FlowDecoder decoder(machine);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.code);
    const std::vector<uint8_t> code = *from_hex(one.code);
    const FlowInstruction got = decoder.decode(code);
    EXPECT_EQ(got.length, one.length);
    EXPECT_EQ(got.flow, one.flow);
    EXPECT_EQ(decoder.text(code, 0x401000), one.text);
  }
}

TEST(ControlFlow, Wide) {
  expect_cases("x86-64", {
                             {"90", 1, Flow::Onward, "nop"},
                             {"48ffc0cccc", 3, Flow::Onward, "inc rax"},
                             {"0f05", 2, Flow::Onward, "syscall"},
                             {"cc", 1, Flow::Onward, "int3"},
                             {"f348a5", 3, Flow::Onward, "rep movsq"},
                             {"eb10", 2, Flow::Jump, "jmp 0x401012"},
                             {"75f6", 2, Flow::Jump, "jnz 0x400ff8"},
                             {"ff20", 2, Flow::Jump, "jmp qword ptr [rax]"},
                             {"e2fe", 2, Flow::Jump, "loop 0x401000"},
                             {"e80b000000", 5, Flow::Call, "call 0x401010"},
                             {"ffd3", 2, Flow::Call, "call rbx"},
                             {"c3", 1, Flow::Return, "ret"},
                             {"f3c3", 2, Flow::Return, "ret"},
                             {"c20800", 3, Flow::Return, "ret 0x08"},
                             {"48cf", 2, Flow::Return, "iretq"},
                             {"ffff", 0, Flow::Unknown, ""},
                             {"e80b", 0, Flow::Unknown, ""},
                             {"", 0, Flow::Unknown, ""},
                         });
}

TEST(ControlFlow, Narrow) {
  expect_cases("i386", {
                           {"48", 1, Flow::Onward, "dec eax"},
                           {"9a100040002300", 7, Flow::Call, "call far 0x0023:0x00400010"},
                           {"cb", 1, Flow::Return, "ret far"},
                       });
}

TEST(ControlFlow, OtherMachines) {
  expect_cases("powerpc", {{"60000000", 0, Flow::Unknown, ""}});
}

}  // namespace
}  // namespace tracewell::machine::test
