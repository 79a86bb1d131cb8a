#pragma once
%: include "code/common/sizes.cuh" // itself: a cycle ends
constexpr unsigned LARGEST = 1024;
