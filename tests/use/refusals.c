/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Uses verbs in wrong ways. A line for each: "ok NAME", or "not ok NAME" with what came instead of
 * the errno that is due. Then lines "log WORDS", which the daemon's log is to have.
 */
#include "refusals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int failed;

static void all(struct use *u, const struct refusal *t, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		int got = t[i].wrong(u);

		if (got == t[i].expected) {
			printf("ok %s\n", t[i].name);
			continue;
		}
		printf("not ok %s: \"%s\" instead of \"%s\"\n", t[i].name,
		       got ? strerror(got) : "no error",
		       t[i].expected ? strerror(t[i].expected) : "no error");
		failed++;
	}
}

static void logs(const struct refusal *t, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (t[i].log)
			printf("log %s\n", t[i].log);
}

static void use_begin(struct use *u)
{
	rig_open(&u->r);
	u->rc = rig_qp(&u->r, IBV_QPT_RC);
	u->uc = rig_qp(&u->r, IBV_QPT_UC);
	u->ud = rig_qp(&u->r, IBV_QPT_UD);
	ladder_to(&u->r, u->ud, IBV_QPS_RTS);
	u->buf = calloc(1, USE_BUF_SIZE);
	MUST(u->buf);
	u->mr = rig_mr(&u->r, u->buf, USE_BUF_SIZE);
}

/* All that was refused has left nothing behind: otherwise these would be busy. */
static void use_end(struct use *u)
{
	MUST(!ibv_dereg_mr(u->mr));
	free(u->buf);
	MUST(!ibv_destroy_qp(u->ud));
	MUST(!ibv_destroy_qp(u->uc));
	MUST(!ibv_destroy_qp(u->rc));
	rig_close(&u->r);
}

int main(void)
{
	struct use u;

	use_begin(&u);
	all(&u, refusals_modify, n_refusals_modify);
	all(&u, refusals_objects, n_refusals_objects);
	all(&u, refusals_posts, n_refusals_posts);
	use_end(&u);
	logs(refusals_modify, n_refusals_modify);
	logs(refusals_objects, n_refusals_objects);
	logs(refusals_posts, n_refusals_posts);
	return failed ? 1 : 0;
}
