// The documents by which GDB learns which shared libraries a program had loaded, and where.
#pragma once

#include <string>

#include "symbols/image_map.h"

namespace tracewell::target {

bool is_pe(const symbols::MappedImage& mapped);

/// A `<library-list-svr4>` (manual, "Library List Format for SVR4 Targets") of all images but
/// `program` (which may be null). GDB checks an ELF library's place by its dynamic section, so one
/// without it is left out. PE files are in the list, too: a GDB that was built for Linux alone
/// opens them and asks for no other list. The link-map addresses are made up: GDB only tells
/// libraries apart by them.
std::string libraries_svr4(const symbols::ImageMap& images, const symbols::MappedImage* program);

/// A `<library-list>` (manual, "Library List Format") of the PE files but `program`, for a GDB that
/// knows Windows.
std::string library_list(const symbols::ImageMap& images, const symbols::MappedImage* program);

}  // namespace tracewell::target
