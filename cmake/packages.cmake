# What comes from outside. A library is linked in the one room that wraps it (end of this file's
# lists); fmt alone is everywhere.
find_package(fmt REQUIRED CONFIG)
find_package(pugixml REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(Zydis REQUIRED CONFIG)
find_package(pegtl REQUIRED CONFIG)
find_package(xbyak REQUIRED CONFIG)
find_library(LIBDW dw REQUIRED)
find_library(LIBELF elf REQUIRED)

set(TRACEWELL_PACKAGES_machine pugixml::pugixml Zydis::Zydis)
set(TRACEWELL_PACKAGES_axjit xbyak::xbyak)
set(TRACEWELL_PACKAGES_formats nlohmann_json::nlohmann_json)
set(TRACEWELL_PACKAGES_report taocpp::pegtl)
set(TRACEWELL_PACKAGES_symbols ${LIBDW} ${LIBELF})
set(TRACEWELL_PACKAGES_cli CLI11::CLI11 nlohmann_json::nlohmann_json spdlog::spdlog)

target_link_libraries(tracewell_options INTERFACE fmt::fmt)
if(TRACEWELL_TESTS)
  find_package(GTest REQUIRED CONFIG)
endif()
