/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is said of each thing that a live device is asked for. */
#include "ask.h"

#include <stdio.h>
#include <string.h>

void ask_says(const char *name, const char *word)
{
	printf("%s %s\n", name, word);
	fflush(stdout);
}

void ask_works(const char *name)
{
	ask_says(name, "works");
}

void ask_refused(const char *name, int error)
{
	const char *word = error ? strerrorname_np(error) : "works";

	if (!word)
		rig_fail("%s is to be refused, not answered with %d", name, error);
	ask_says(name, word);
}
