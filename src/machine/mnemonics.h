// Instructions with several names: je and jz, jae and jnc, shl and sal.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tracewell::machine {

/// All names of the x86 instruction that FlowDecoder::mnemonic() calls `name`, that one first; none
/// when it has but one. Kept for ever.
std::span<const std::string> mnemonic_names(std::string_view name);

}  // namespace tracewell::machine
