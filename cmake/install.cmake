# What `cmake --install build --prefix P` leaves under P: the library, the public headers, the command line tool, and the
# two ways by which other projects find them, find_package(spdistal) and pkg-config. The tree may be moved afterwards:
# nothing in it names P.
include(CMakePackageConfigHelpers)

install(TARGETS spdistal EXPORT spdistalTargets)
if(NOT SPDISTAL_MPI)
  set(needs_mpi PATTERN mpi.hpp EXCLUDE PATTERN petsc.hpp EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/spdistal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" ${needs_mpi})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET spdistal_cli)
  file(RELATIVE_PATH library_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(spdistal_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
  install(TARGETS spdistal_cli)
endif()

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/spdistal)
install(EXPORT spdistalTargets NAMESPACE spdistal:: DESTINATION ${config_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/spdistalConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/spdistalConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/spdistalConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/spdistalConfig.cmake ${PROJECT_BINARY_DIR}/spdistalConfigVersion.cmake
        DESTINATION ${config_folder})

file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(${PROJECT_SOURCE_DIR}/cmake/spdistal.pc.in ${PROJECT_BINARY_DIR}/spdistal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/spdistal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
