#pragma once
#include "parts/leaf.h"
#include "untouched.h"
