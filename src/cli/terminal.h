// What standard output is connected to.
#pragma once

#include "base/process/terminal.h"
