/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Runs a program as if on a kernel before Linux 6.11.
 *
 *     older PROGRAM [ARGUMENT...]
 */
#include <stdio.h>
#include <unistd.h>

#include "older.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (older_kernel())
		perror("seccomp");
	else if (execv(argv[1], argv + 1))
		perror(argv[1]);
	return 1;
}
