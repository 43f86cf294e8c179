# The committed sample texts are byte for byte what make_texts writes.
#   cmake -D GENERATOR=make_texts -D COMMITTED=data -D FRESH=folder -P texts_test.cmake
cmake_minimum_required(VERSION 3.25)

file(MAKE_DIRECTORY ${FRESH})
execute_process(COMMAND ${GENERATOR} ${FRESH} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${GENERATOR} failed: ${result}")
endif()
foreach(name IN ITEMS first_grade.txt questions.txt)
  file(SHA256 ${COMMITTED}/${name} committed)
  file(SHA256 ${FRESH}/${name} fresh)
  if(NOT committed STREQUAL fresh)
    message(FATAL_ERROR
      "${COMMITTED}/${name} is not the generator's output; if the change of words is meant, run make_texts ${COMMITTED}")
  endif()
endforeach()
