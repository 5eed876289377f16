# make install [PREFIX=]: the program under all its names, manual pages, completions, documents.
include(GNUInstallDirs)
if(TARGET tracewell)
  # The program describes itself; manual pages and completions are made from that.
  set(share ${CMAKE_BINARY_DIR}/share)
  set(generator ${CMAKE_SOURCE_DIR}/tools/gen_docs)
  add_custom_command(OUTPUT ${share}/man/man1/tracewell.1
    COMMAND ${generator} $<TARGET_FILE:tracewell> ${share}
    DEPENDS tracewell ${generator} COMMENT "Manual pages and completions" VERBATIM)
  add_custom_target(manuals ALL DEPENDS ${share}/man/man1/tracewell.1)
  add_dependencies(product manuals)

  install(TARGETS tracewell RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/bin/tracewell-gdbserver DESTINATION ${CMAKE_INSTALL_BINDIR})
  # AIX's names, in a folder of their own: `trace` is a common word.
  set(aix ${CMAKE_INSTALL_LIBEXECDIR}/tracewell/aix)
  file(RELATIVE_PATH to_bin ${CMAKE_INSTALL_PREFIX}/${aix}
       ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR})
  foreach(name IN LISTS TRACEWELL_AIX_NAMES)
    install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${aix}\")
      file(CREATE_LINK ${to_bin}/tracewell
           \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${aix}/${name}\" SYMBOLIC)")
  endforeach()
  # Not libinproctrace.so: gdbserver's own may be there.
  install(TARGETS tracewell-agent LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS rts rts_static LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(TARGET rts32)
    install(TARGETS rts32 rts32_static LIBRARY DESTINATION lib32 ARCHIVE DESTINATION lib32)
  endif()
  install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
# As they lie in the source tree, so that their links hold.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
install(FILES LICENSE NOTICE README.md CHANGELOG.md CONTRIBUTING.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/include)
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
