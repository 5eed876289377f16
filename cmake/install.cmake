# make install [PREFIX=]: the program under both names, manual pages, completions, documents.
include(GNUInstallDirs)
if(TARGET tracewell)
  install(TARGETS tracewell RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/bin/tracewell-gdbserver DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
