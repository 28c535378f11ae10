# Tests of the finished program: its commands, its documentation, its installation.
if(TBOOST_TESTS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME cli.commands
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/cli/run.py $<TARGET_FILE:tboost_program>)
  add_test(NAME cli.docs
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/cli/docs.py $<TARGET_FILE:tboost_program>)
  add_test(NAME install.example
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/install/run.py ${CMAKE_BINARY_DIR})
endif()
