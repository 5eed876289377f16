// Values of wide registers, kept small: a few digits in a file may be the value of a register of
// thousands of bytes, nearly all of them zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/batch.h"
#include "model/registers.h"

namespace tracewell::timeline {

/// More bytes than a vector register has that machines use all the time.
inline constexpr size_t kWideBytes = 64;

bool has_wide(std::span<const Step::RegisterChange> changes);

/// The changes in `batch`, with the values of wide registers small: what is between the zeros at
/// both ends, and where it begins.
std::span<const Step::RegisterChange> with_small_values(
    std::span<const Step::RegisterChange> changes, Batch& batch);

/// Sets what with_small_values() made.
void set_small(const RegisterLayout& layout, const Step::RegisterChange& change,
               RegisterState& state);

/// The opposite of with_small_values(). `bytes` grows by what it took. Where nothing is wide, they
/// are the same changes.
std::span<const Step::RegisterChange> with_whole_values(
    const RegisterLayout& layout, std::span<const Step::RegisterChange> changes, Batch& batch,
    size_t& bytes);

/// The event with all that it refers to, in `batch`, and small values.
Event small_event(const Event& event, Batch& batch);

}  // namespace tracewell::timeline
