# Each paragraph that PROGRAM prints stands in PAGE, line for line.
#   cmake -D PROGRAM=program -D PAGE=page.md -P output.cmake
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR output STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} failed: ${result}")
endif()
file(READ "${PAGE}" page)
string(REPLACE "\n\n" "\n;" paragraphs "${output}")
foreach(paragraph IN LISTS paragraphs)
  string(FIND "${page}" "```\n${paragraph}```\n" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${PAGE} does not show what is printed:\n${paragraph}")
  endif()
endforeach()
