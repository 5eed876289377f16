// Intel's manual (volume 2, Jcc, SETcc, CMOVcc, LOOPcc, SAL/SHL) lists which names are one opcode.
// The decoder knows each by the first one here.
#include "machine/mnemonics.h"

#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace tracewell::machine {
namespace {

using Names = std::vector<std::string>;

const std::array<Names, 12>& conditions() {
  static const std::array<Names, 12> kConditions = {{{"z", "e"},
                                                     {"nz", "ne"},
                                                     {"b", "c", "nae"},
                                                     {"nb", "nc", "ae"},
                                                     {"be", "na"},
                                                     {"nbe", "a"},
                                                     {"p", "pe"},
                                                     {"np", "po"},
                                                     {"l", "nge"},
                                                     {"nl", "ge"},
                                                     {"le", "ng"},
                                                     {"nle", "g"}}};
  return kConditions;
}

std::map<std::string, Names, std::less<>> all_names() {
  std::vector<Names> all = {{"loope", "loopz"},
                            {"loopne", "loopnz"},
                            {"shl", "sal"},
                            {"fwait", "wait"},
                            {"xlat", "xlatb"}};
  for (const std::string stem : {"j", "set", "cmov"})
    for (const Names& condition : conditions()) {
      Names& names = all.emplace_back();
      for (const std::string& one : condition) names.push_back(stem + one);
    }
  std::map<std::string, Names, std::less<>> out;
  for (Names& names : all) out.emplace(names.front(), std::move(names));
  return out;
}

}  // namespace

std::span<const std::string> mnemonic_names(std::string_view name) {
  static const auto kAll = all_names();
  const auto found = kAll.find(name);
  return found == kAll.end() ? std::span<const std::string>() : found->second;
}

}  // namespace tracewell::machine
