# The flags that would change results are refused, and those that would bind the program to one processor are not used.
#   cmake -D CXX=g++ -D SOURCE=dir -D BINARY=dir -D GENERATOR=Ninja -P flags.cmake
cmake_minimum_required(VERSION 3.25)

# As a user would ask for it: the build's own flags come behind.
foreach(flag -ffast-math -Ofast)
  file(REMOVE_RECURSE ${BINARY}/flags)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY}/flags -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
      -DCMAKE_CXX_FLAGS=${flag} -DCMAKE_BUILD_TYPE=Release -DGLASSBOX_TESTS=OFF
    RESULT_VARIABLE result OUTPUT_QUIET)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY}/flags --target glassbox_kernels
    RESULT_VARIABLE built OUTPUT_VARIABLE errors ERROR_VARIABLE errors)
  if(NOT result EQUAL 0 OR built EQUAL 0 OR NOT errors MATCHES "#error \"glassbox promises equal bits")
    message(FATAL_ERROR "CXXFLAGS=${flag}: expected the #error of kernels/simd-inl.h, found ${result}, ${built}: ${errors}")
  endif()
endforeach()
file(REMOVE_RECURSE ${BINARY}/flags)

set(commands ${BINARY}/compile_commands.json)
if(NOT EXISTS ${commands})
  message("skipped: the search for -march=native, for want of compile_commands.json (the presets write it)")
else()
  file(READ ${commands} text)
  if(text MATCHES "-march=|-mtune=native|-mavx|-ffast-math|-Ofast")
    message(FATAL_ERROR "${commands}: found ${CMAKE_MATCH_0}")
  endif()
endif()
