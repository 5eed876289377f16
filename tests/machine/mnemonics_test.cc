// The decoder's names of instructions that have several.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "machine/control_flow.h"
#include "machine/mnemonics.h"
#include "machine/usage.h"
#include "machine/x86.h"

namespace tracewell::machine::test {
namespace {

TEST(Mnemonics, TheDecodersNameComesFirst) {
  const FlowDecoder decoder("x86-64");
  // Conditions 0 to 15 without o, no, s and ns, which have one name.
  for (const uint8_t condition : {2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15}) {
    for (const std::vector<uint8_t>& code :
         {std::vector<uint8_t>{static_cast<uint8_t>(0x70 + condition), 0},
          std::vector<uint8_t>{0x0f, static_cast<uint8_t>(0x90 + condition), 0xc0},
          std::vector<uint8_t>{0x0f, static_cast<uint8_t>(0x40 + condition), 0xc0}}) {
      const std::string_view name = decoder.mnemonic(code);
      const auto names = mnemonic_names(name);
      ASSERT_GE(names.size(), 2u) << name;
      EXPECT_EQ(names[0], name);
    }
  }
  for (const char* code : {"e1fe", "e0fe", "d0e0", "9b", "d7"}) {
    const auto names = mnemonic_names(decoder.mnemonic(*from_hex(code)));
    ASSERT_EQ(names.size(), 2u) << code;
    EXPECT_EQ(names[0], decoder.mnemonic(*from_hex(code)));
  }
}

TEST(Mnemonics, OnesThatHaveButOne) {
  EXPECT_TRUE(mnemonic_names("mov").empty());
  EXPECT_TRUE(mnemonic_names("js").empty());
  EXPECT_EQ(std::ranges::count(mnemonic_names("jb"), "jnae"), 1);
}

TEST(RegisterNames, WholeOnesPartsAndCapitals) {
  const RegisterLayout layout = x86_64_layout({});
  const auto index = [&](const char* name) {
    return static_cast<uint32_t>(layout.find(name) - layout.registers.data());
  };
  for (const char* name : {"rax", "RAX", "eax", "AX", "al", "AH"}) {
    const auto place = find_register(layout, name);
    ASSERT_TRUE(place) << name;
    EXPECT_EQ(place->index, index("rax")) << name;
  }
  EXPECT_EQ(find_register(layout, "AH")->first_byte, 1u);
  EXPECT_EQ(find_register(layout, "AH")->name, "ah");
  EXPECT_EQ(find_register(layout, "RAX")->bytes, 0u);
  EXPECT_EQ(find_register(layout, "r8d")->bytes, 4u);
  EXPECT_EQ(find_register(layout, "eip")->bytes, 4u);
  EXPECT_EQ(find_register(layout, "ip")->bytes, 2u);
  EXPECT_FALSE(find_register(layout, "zax"));
  EXPECT_FALSE(find_register(layout, ""));
  const uint8_t value[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(bytes_of(*find_register(layout, "ah"), value, Endian::Little)[0], 2);
  EXPECT_EQ(bytes_of(*find_register(layout, "ah"), value, Endian::Big)[0], 7);
}

}  // namespace
}  // namespace tracewell::machine::test
