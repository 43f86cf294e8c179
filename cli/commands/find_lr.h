// train --find-lr: which learning rate a model and a text can take.
#pragma once

#include "cli/commands/training.h"

namespace glassbox::cli {

// One short run whose rate grows in a geometric series, as in Smith's range test (2017,
// arXiv:1506.01186): prints the mean loss at each rate, tells a rate to begin with, writes no file.
// Returns the exit status.
template <class T>
int find_learning_rate(const Training<T>& training);

}  // namespace glassbox::cli
