/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* "cm VERB": what a program asks of rdma_cm, and the events that it is told. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "line_cm.h"
#include "names.h"
#include "run.h"

#define PRIVATE_ROOM 256

/* private=DATA as the bytes that it stands for. */
static int private_write(struct run *r, const char *data, struct text *t)
{
	uint8_t bytes[PRIVATE_ROOM];
	long n = data_fill(data, bytes, 0, sizeof(bytes));

	if (n < 0)
		return run_fail(r, "private=%s is not understood, or too long", data);
	text_add(t, " private=");
	text_hex(t, bytes, (size_t)n);
	return 0;
}

static int value_write(struct run *r, const char *key, const char *val, struct text *t)
{
	uint64_t v;

	if (!strcmp(key, "private"))
		return private_write(r, val, t);
	if (!strcmp(key, "to"))
		val = !strcmp(val, "other") ? r->side->other : r->side->peer;
	else if (name_known(key) && name_value(key, val, &v)) {
		text_add(t, " %s=%" PRIu64, key, v);
		return 0;
	}
	text_add(t, " %s=%s", key, val);
	return 0;
}

static int ask(struct run *r, struct args *a, const char *verb)
{
	const char *name = args_word(a);
	struct args reply;
	struct text t;
	bool done;
	int ret = 0;

	if (!name || strlen(name) >= RUN_NAME)
		return run_fail(r, "cm %s NAME", verb);
	text_begin(&t);
	text_add(&t, "cm_%s name=%s", verb, name);
	if (!strcmp(verb, "connect") && !args_has(a, "to"))
		text_add(&t, " to=%s", r->side->peer);
	for (unsigned int i = 0; ret == 0 && i < a->n; i++) {
		struct arg *arg = &a->arg[i];

		if (arg->used || !arg->val || !strcmp(arg->key, "errno"))
			continue;
		arg->used = true;
		ret = value_write(r, arg->key, arg->val, &t);
	}
	args_parse(&reply, "");
	if (ret == 0) {
		args_free(&reply);
		ret = run_exec_errno(r, a, t.buf, &reply, &done);
	}
	args_free(&reply);
	text_end(&t);
	return ret;
}

/* The next event in reply; 1: it is there, 0: none, -1: failure. */
static int event_await(struct run *r, uint64_t wait, const char *new, struct args *reply)
{
	char line[120];
	int ret;

	snprintf(line, sizeof(line), "cm_event new=%.40s wait=%" PRIu64 "ns", new, wait);
	ret = run_exec(r, line, reply);
	if (ret)
		return ret < 0 ? ret : run_fail(r, "cm_event: %s", errno_word(ret));
	return args_flag(reply, "none") ? 0 : 1;
}

static void event_tell(struct args *reply, char *buf, size_t size)
{
	const char *word = name_of("cm_event", args_num(reply, "event", 99));

	snprintf(buf, size, "%s of=%s status=%" PRId64, word ? word : "?",
		 args_str(reply, "of", ""), (int64_t)args_num(reply, "status", 0));
}

static int private_match(struct run *r, struct args *a, struct args *reply)
{
	const char *data = args_str(a, "private", NULL), *got = args_str(reply, "private", "");
	uint8_t want[PRIVATE_ROOM] = {0};
	struct text t;
	bool same;

	if (!data)
		return 0;
	if (data_fill(data, want, 0, sizeof(want)) < 0)
		return run_fail(r, "private=%s is not understood", data);
	text_begin(&t);
	text_hex(&t, want, strlen(got) / 2);
	same = !strcmp(t.buf, got) && strlen(got) > 0;
	text_end(&t);
	return same ? 0 : run_fail(r, "private data\n  expected: %s\n  got:      %s", data, got);
}

static int not_early(struct run *r, uint64_t after)
{
	uint64_t passed = r->side->now(r->side) - r->line_time;

	if (r->side->real_time || passed >= after)
		return 0;
	return run_fail(r, "too early: %.3f us after the line before", (double)passed / 1000);
}

static int event_match(struct run *r, struct args *a, struct args *reply, const char *type,
		       uint64_t want)
{
	const char *status = args_str(a, "status", NULL);
	uint64_t code = 0;
	char told[160];

	/* An errno, or the reason of a REJ. */
	if (status && errno_value(status) > 0)
		code = (uint64_t)-errno_value(status);
	else if (status && !name_value("reason", status, &code))
		return run_fail(r, "status=%s is not understood", status);
	event_tell(reply, told, sizeof(told));
	if (args_num(reply, "event", 99) != want ||
	    (uint32_t)args_num(reply, "status", 0) != (uint32_t)code)
		return run_fail(r, "event\n  expected: %s%s%s\n  got:      %s", type,
				status ? " status=" : "", status ? status : "", told);
	if (private_match(r, a, reply) < 0)
		return -1;
	return reply_match(r, a, reply, "event");
}

/* cm event TYPE [of=NAME] [new=NAME] [status=] [private=DATA] ... [within=TIME] [after=TIME] */
static int event(struct run *r, struct args *a)
{
	uint64_t within = run_patience(r, args_time(a, "within", 0)), want;
	uint64_t after = args_time(a, "after", 0);
	const char *type = args_word(a), *new = args_str(a, "new", "c");
	struct args reply;
	int ret;

	if (!type || !name_value("cm_event", type, &want))
		return run_fail(r, "there is no event \"%s\"", type ? type : "");
	ret = event_await(r, within, new, &reply);
	if (ret == 0)
		ret = run_fail(r, "no event\n  expected: %s", r->source);
	else if (ret == 1)
		ret = event_match(r, a, &reply, type, want);
	if (ret == 0)
		ret = not_early(r, after);
	args_free(&reply);
	return ret;
}

/* no cm: no event waits. Live a time wait may be over before the script is. */
int no_cm(struct run *r, struct args *a)
{
	struct args reply;
	bool exits;
	char told[160];
	int ret;

	(void)a;
	if (!r->cm_used)
		return 0;
	do {
		ret = event_await(r, 0, "c", &reply);
		event_tell(&reply, told, sizeof(told));
		exits = ret == 1 && r->side->real_time && !strncmp(told, "timewait_exit", 13);
		args_free(&reply);
	} while (exits);
	return ret == 1 ? run_fail(r, "expected: no cm\n  got:      %s", told) : ret;
}

/* cm listen|connect|accept|establish|reject|disconnect|notify|destroy NAME ..., cm event TYPE */
int verb_cm(struct run *r, struct args *a)
{
	static const char *const verbs[] = {"listen", "connect",    "accept", "establish",
					    "reject", "disconnect", "notify", "destroy"};
	const char *verb = args_word(a);

	r->cm_used = true;
	if (verb && !strcmp(verb, "event"))
		return event(r, a);
	for (size_t i = 0; verb && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i], verb))
			return ask(r, a, verb);
	return run_fail(r, "cm has no \"%s\"", verb ? verb : "");
}
