// Ctrl-C, for commands that print.
#pragma once

#include "base/process/interrupt.h"
