# The installed tree: program, one static library, public headers and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(objects GLOBAL PROPERTY TBOOST_OBJECTS)
add_library(tboost_library STATIC ${objects})
set_target_properties(tboost_library PROPERTIES OUTPUT_NAME tboost EXPORT_NAME tboost
                                                LINKER_LANGUAGE CXX)
# The packages behind the library, which tboostConfig.cmake finds again under the same names. Those that
# are headers only are all inside it.
target_link_libraries(tboost_library PRIVATE fmt::fmt ICU::i18n ICU::uc PkgConfig::PCRE2 PkgConfig::XXHASH
                                     Threads::Threads)
target_include_directories(tboost_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tboost_library INTERFACE cxx_std_20)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tboost)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tboostConfig.cmake.in tboostConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(tboostConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS tboost_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tboost_library EXPORT tboost ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tboost NAMESPACE tboost:: DESTINATION ${package_folder} FILE tboostTargets.cmake)
install(DIRECTORY include/tboost DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tboostConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tboostConfigVersion.cmake DESTINATION ${package_folder})
