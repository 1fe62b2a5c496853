/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The verbs that make and destroy objects other than QPs. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "run.h"

/* Pass key=value on, words turned to numbers. */
static void pass(struct args *a, struct text *t, const char *key)
{
	const char *s = args_str(a, key, NULL);
	uint64_t v;

	if (!s)
		return;
	if (name_known(key) && name_value(key, s, &v))
		text_add(t, " %s=%" PRIu64, key, v);
	else if (name_known(key))
		args_wrong(a, "%s=%s is not known", key, s);
	else if (num_parse(s, &v))
		text_add(t, " %s=%" PRIu64, key, v);
	else
		text_add(t, " %s=%s", key, s);
}

static void pass_all(struct args *a, struct text *t, const char *const *keys)
{
	for (; *keys; keys++)
		pass(a, t, *keys);
}

static void symbols_of_reply(struct run *r, const char *name, struct args *reply)
{
	char key[2 * RUN_NAME];

	for (unsigned int i = 0; i < reply->n; i++) {
		uint64_t v = args_num(reply, reply->arg[i].key, 0);

		snprintf(key, sizeof(key), "%.31s.%.31s", name, reply->arg[i].key);
		symbol_set(r, key, v);
		if (!strcmp(reply->arg[i].key, "addr"))
			symbol_set(r, name, v);
	}
}

static const char *name_take(struct args *a, const char *absent)
{
	const char *name = args_word(a);

	if (!name)
		name = absent;
	if (strlen(name) >= RUN_NAME)
		args_wrong(a, "the name is too long");
	return name;
}

static int create(struct run *r, struct args *a, const char *kind, const char *const *keys,
		  const char **out)
{
	const char *name = name_take(a, kind);
	struct args reply;
	struct text t;
	bool done;
	int ret;

	text_begin(&t);
	text_add(&t, "%s name=%s", kind, name);
	pass_all(a, &t, keys);
	ret = run_exec_errno(r, a, t.buf, &reply, &done);
	if (done)
		symbols_of_reply(r, name, &reply);
	if (out)
		*out = done ? name : NULL;
	args_free(&reply);
	text_end(&t);
	return ret;
}

int verb_pd(struct run *r, struct args *a)
{
	static const char *const keys[] = {NULL};

	return create(r, a, "pd", keys, NULL);
}

int verb_cq(struct run *r, struct args *a)
{
	static const char *const keys[] = {"cqe", NULL};

	return create(r, a, "cq", keys, NULL);
}

int verb_mr(struct run *r, struct args *a)
{
	static const char *const keys[] = {"pd", "len", "access", "addr", "iova", NULL};
	static const char *const parts[] = {"lkey", "rkey"};
	const char *name;
	int ret = create(r, a, "mr", keys, &name);
	char key[2 * RUN_NAME];
	uint64_t v;

	/* $lkey, $rkey and $va are the first region's. */
	for (size_t i = 0; !r->has_mr && name && i < 2; i++) {
		snprintf(key, sizeof(key), "%s.%s", name, parts[i]);
		if (symbol_get(r, key, &v))
			symbol_set(r, parts[i], v);
	}
	if (!r->has_mr && name && symbol_get(r, name, &v))
		symbol_set(r, "va", v);
	r->has_mr |= name != NULL;
	return ret;
}

int verb_mw(struct run *r, struct args *a)
{
	static const char *const keys[] = {"pd", "mw_type", NULL};

	return create(r, a, "mw", keys, NULL);
}

int verb_srq(struct run *r, struct args *a)
{
	static const char *const keys[] = {"pd", "wr", "sge", "limit", NULL};

	return create(r, a, "srq", keys, NULL);
}

int verb_ah(struct run *r, struct args *a)
{
	static const char *const keys[] = {"pd",   "dgid", "sgid_index", "tclass", "hops",
					   "flow", "port", "grh",	 NULL};
	const char *dgid = args_str(a, "dgid", "peer");
	char line[RUN_NAME + 64];
	struct args with;
	int ret;

	if (strcmp(dgid, "peer") != 0 && strcmp(dgid, "other") != 0)
		return create(r, a, "ah", keys, NULL);
	/* The peer's address, by name. */
	snprintf(line, sizeof(line), "%s dgid=%s", name_take(a, "ah"),
		 !strcmp(dgid, "peer") ? r->side->peer : r->side->other);
	args_parse(&with, line);
	for (unsigned int i = 0; i < a->n && with.n < ARGS_MAX; i++)
		if (a->arg[i].val && strcmp(a->arg[i].key, "dgid") != 0) {
			with.arg[with.n++] = a->arg[i];
			a->arg[i].used = true;
		}
	ret = create(r, &with, "ah", keys, NULL);
	args_free(&with);
	return ret;
}

int verb_destroy(struct run *r, struct args *a)
{
	const char *name = args_word(a);
	char line[2 * RUN_NAME];
	struct args reply;
	bool done;
	int ret;

	snprintf(line, sizeof(line), "destroy %.40s", name ? name : "");
	ret = run_exec_errno(r, a, line, &reply, &done);
	args_free(&reply);
	return ret;
}

static int multicast(struct run *r, struct args *a, const char *verb)
{
	const char *name = name_take(a, "qp");
	char line[2 * RUN_NAME + 64];
	struct args reply;
	bool done;
	int ret;

	snprintf(line, sizeof(line), "%s qp=%.40s dgid=%.48s", verb, name,
		 args_str(a, "group", ""));
	ret = run_exec_errno(r, a, line, &reply, &done);
	args_free(&reply);
	return ret;
}

int verb_attach(struct run *r, struct args *a)
{
	return multicast(r, a, "attach");
}

int verb_detach(struct run *r, struct args *a)
{
	return multicast(r, a, "detach");
}

/* join GROUP: the peer hears what is sent to it */
int verb_join(struct run *r, struct args *a)
{
	const char *group = args_word(a);
	int err;

	if (!group)
		return run_fail(r, "join GROUP");
	err = r->side->join ? r->side->join(r->side, group) : 0;
	return err ? run_fail(r, "join %s: %s", group, strerror(err)) : 0;
}

int verb_modify_srq(struct run *r, struct args *a)
{
	const char *name = name_take(a, "srq");
	struct args reply;
	struct text t;
	bool done;
	int ret;

	text_begin(&t);
	text_add(&t, "modify_srq srq=%s", name);
	pass(a, &t, "limit");
	pass(a, &t, "wr");
	ret = run_exec_errno(r, a, t.buf, &reply, &done);
	args_free(&reply);
	text_end(&t);
	return ret;
}

int verb_query_srq(struct run *r, struct args *a)
{
	const char *name = name_take(a, "srq");
	struct args reply;
	char line[80];
	int ret;

	snprintf(line, sizeof(line), "query_srq srq=%s", name);
	ret = run_exec(r, line, &reply);
	if (ret > 0)
		ret = run_fail(r, "query_srq: %s", errno_word(ret));
	else if (ret == 0)
		ret = reply_match(r, a, &reply, "SRQ");
	args_free(&reply);
	return ret;
}

int prelude(struct run *r)
{
	static const struct {
		run_verb *verb;
		const char *line;
	} steps[] = {{verb_pd, ""}, {verb_cq, ""}, {verb_mr, ""}};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct args a;

		args_parse(&a, steps[i].line);
		ret = steps[i].verb(r, &a);
		args_free(&a);
	}
	r->next_wr = 1;
	return ret;
}
