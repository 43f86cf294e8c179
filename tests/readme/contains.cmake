# TEXT has PART in it, line for line.
#   cmake -D TEXT=README.md -D PART=program.cc -P contains.cmake
cmake_minimum_required(VERSION 3.25)

file(READ "${TEXT}" text)
file(READ "${PART}" part)
string(FIND "${text}" "${part}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${TEXT} does not show ${PART} as it is")
endif()
