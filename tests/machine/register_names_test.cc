// RegisterNames finds what RegisterLayout::find() finds.
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "model/register_names.h"

namespace tracewell::test {
namespace {

TEST(RegistersByName, AreTheFirstOfThatName) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    RegisterLayout layout;
    for (size_t i = random() % 60; i > 0; --i) {
      Register one;
      one.name = random() % 9 == 0 ? std::string(random() % 3, 'r') : std::to_string(random() % 80);
      layout.registers.push_back(one);
    }
    const RegisterNames names(layout);
    for (int i = -2; i < 80; ++i) {
      const std::string name = i < 0 ? std::string(static_cast<size_t>(i + 2), 'r')
                                     : std::to_string(i);
      const Register* const expected = layout.find(name);
      const auto found = names.index(name);
      ASSERT_EQ(found.has_value(), expected != nullptr) << name;
      if (found) {
        ASSERT_EQ(&layout.registers[*found], expected) << name;
      }
    }
  }
}

}  // namespace
}  // namespace tracewell::test
