// A device on which every write fails for want of space; not every container has it. A test asks
// before it writes: where there is none, a file of that name would come to be, and every later test
// would write to it.
#pragma once

#include <sys/stat.h>

namespace glassbox {

inline bool is_device(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 && S_ISCHR(status.st_mode);
}
inline bool has_full_device() { return is_device("/dev/full"); }

}  // namespace glassbox
