/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules on the device's packets. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "run.h"

/* fault RULE, as of rnicctl fault add; numbers and PSNs are the packets', not relative. */
int verb_fault(struct run *r, struct args *a)
{
	const char *rule = strstr(r->text, "fault");
	char request[sizeof(r->text) + 32];
	struct args reply;
	int ret;

	if (strchr(rule, '"'))
		return run_fail(r, "fault takes no quotes");
	snprintf(request, sizeof(request), "fault rule=\"%s\"", rule + strlen("fault"));
	for (unsigned int i = 0; i < a->n; i++)
		a->arg[i].used = true;
	ret = run_exec(r, request, &reply);
	args_free(&reply);
	return ret;
}
