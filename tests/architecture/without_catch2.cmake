# Without Catch2 everything but the tests is built, and one line says so; tests asked for by name need it.
#   cmake -D CXX=g++ -D SOURCE=dir -D BINARY=dir -D GENERATOR=Ninja -P without_catch2.cmake
cmake_minimum_required(VERSION 3.25)

function(configure)
  file(REMOVE_RECURSE ${BINARY}/without_catch2)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY}/without_catch2 -G ${GENERATOR}
      -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")  # CMake breaks the lines of an error
  set(result "${result}" PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

configure()
if(NOT result EQUAL 0 OR NOT text MATCHES "the tests are not built, since Catch2 is not installed")
  message(FATAL_ERROR "without Catch2: expected a build without tests, found ${result}: ${text}")
endif()
configure(-DGLASSBOX_TESTS=ON)
if(result EQUAL 0 OR NOT text MATCHES "GLASSBOX_TESTS=ON: expected Catch2, version 2.13 or 3, found none")
  message(FATAL_ERROR "GLASSBOX_TESTS=ON without Catch2: expected an error, found ${result}: ${text}")
endif()
file(REMOVE_RECURSE ${BINARY}/without_catch2)
