/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the verbs' side must show: completions, events, notifications, or none of them. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "run.h"

static void reply_tell(struct args *reply, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < reply->n && len < size; i++) {
		const struct arg *arg = &reply->arg[i];
		const char *word = NULL;
		uint64_t v;

		if (arg->val && num_parse(arg->val, &v))
			word = name_of(arg->key, v);
		len += (size_t)snprintf(buf + len, size - len, "%s%s%s%s", i ? " " : "", arg->key,
					arg->val ? "=" : "",
					word	   ? word
					: arg->val ? arg->val
						   : "");
	}
}

static bool value_equal(const char *key, const char *want, const char *got)
{
	uint64_t w, g;

	if (!strcmp(want, got))
		return true;
	if (!num_parse(got, &g))
		return false;
	if (!(name_known(key) ? name_value(key, want, &w) : num_parse(want, &w)))
		return false;
	/* with=imm: that flag among others; with=none: no flag at all. */
	return w == g || (!strcmp(key, "with") && w && (g & w) == w);
}

int reply_match(struct run *r, struct args *a, struct args *reply, const char *what)
{
	char told[600];

	for (unsigned int i = 0; i < a->n; i++) {
		struct arg *arg = &a->arg[i];
		const char *got;

		if (arg->used || !arg->val)
			continue;
		got = args_str(reply, arg->key, NULL);
		arg->used = true;
		if (got && value_equal(arg->key, arg->val, got))
			continue;
		reply_tell(reply, told, sizeof(told));
		return run_fail(r, "%s\n  expected: %s=%s\n  got:      %s", what, arg->key,
				arg->val, told);
	}
	return 0;
}

/* Ask for one thing and wait; 1: it is there, 0: none, -1: failure. */
static int await(struct run *r, const char *request, uint64_t wait, struct args *reply)
{
	char line[160];
	int ret;

	snprintf(line, sizeof(line), "%s wait=%" PRIu64 "ns", request, wait);
	ret = run_exec(r, line, reply);
	if (ret > 0)
		return run_fail(r, "%s: %s", request, errno_word(ret));
	if (ret < 0)
		return -1;
	return args_flag(reply, "none") ? 0 : 1;
}

static int not_early(struct run *r, uint64_t after)
{
	uint64_t passed = r->side->now(r->side) - r->line_time;

	if (after && !r->side->real_time && passed < after)
		return run_fail(r, "too early: %.3f us after the line before",
				(double)passed / 1000);
	return 0;
}

/* wc [cq=NAME] [wr=N] [status=...] [opcode=...] [len=N] ... [within=TIME] [after=TIME] */
int verb_wc(struct run *r, struct args *a)
{
	uint64_t within = run_patience(r, args_time(a, "within", 0));
	uint64_t after = args_time(a, "after", 0);
	const char *cq = args_str(a, "cq", "cq");
	struct args reply;
	char line[80], told[600];
	int ret;

	snprintf(line, sizeof(line), "poll cq=%.40s", cq);
	ret = await(r, line, within, &reply);
	if (ret == 0)
		ret = run_fail(r, "no completion\n  expected: %s", r->source);
	else if (ret == 1)
		ret = not_early(r, after);
	if (ret == 0 && !args_has(a, "status") &&
	    !value_equal("status", "success", args_str(&reply, "status", ""))) {
		reply_tell(&reply, told, sizeof(told));
		ret = run_fail(r, "completion\n  expected: status=success\n  got:      %s", told);
	}
	if (ret == 0)
		ret = reply_match(r, a, &reply, "completion");
	args_free(&reply);
	return ret;
}

/* event TYPE [of=NAME] [within=TIME] */
int verb_event(struct run *r, struct args *a)
{
	uint64_t within = run_patience(r, args_time(a, "within", 0));
	const char *type = args_word(a);
	struct args reply;
	char told[200];
	uint64_t want;
	bool lacking;
	int ret;

	if (!type || !name_value("event", type, &want))
		return run_fail(r, "there is no event \"%s\"", type ? type : "");
	lacking = name_listed(r->side->free, type);
	ret = await(r, "event", lacking ? 0 : within, &reply);
	if (ret == 0 && lacking) {
		args_str(a, "of", NULL);
		args_free(&reply);
		return 0;
	}
	if (ret == 0)
		ret = run_fail(r, "no event\n  expected: %s", type);
	if (ret == 1) {
		ret = 0;
		if (args_num(&reply, "event", SIDE_NEVER) != want) {
			reply_tell(&reply, told, sizeof(told));
			ret = run_fail(r, "event\n  expected: %s\n  got:      %s", type, told);
		}
	}
	if (ret == 0)
		ret = reply_match(r, a, &reply, "event");
	args_free(&reply);
	return ret;
}

/* arm [CQ] [solicited] */
int verb_arm(struct run *r, struct args *a)
{
	bool solicited = args_flag(a, "solicited");
	const char *cq = args_word(a);
	struct args reply;
	char line[80];
	bool done;
	int ret;

	snprintf(line, sizeof(line), "arm cq=%.40s%s", cq ? cq : "cq",
		 solicited ? " solicited" : "");
	ret = run_exec_errno(r, a, line, &reply, &done);
	args_free(&reply);
	return ret;
}

/* notify [CQ] [within=TIME]: its completion event has come */
int verb_notify(struct run *r, struct args *a)
{
	uint64_t within = run_patience(r, args_time(a, "within", 0));
	const char *cq = args_word(a);
	struct args reply;
	char line[80];
	int ret;

	snprintf(line, sizeof(line), "notified cq=%.40s", cq ? cq : "cq");
	ret = await(r, line, within, &reply);
	args_free(&reply);
	if (ret == 0)
		return run_fail(r, "no completion event of %s", cq ? cq : "cq");
	return ret == 1 ? 0 : ret;
}

static int no_packet(struct run *r)
{
	struct args a;
	int ret;

	args_parse(&a, "0");
	ret = verb_silence(r, &a);
	args_free(&a);
	return ret;
}

/* no wc [CQ], no event, no notify [CQ], no packet, no cm: there is none now */
int verb_no(struct run *r, struct args *a)
{
	const char *what = args_word(a), *cq = args_word(a);
	struct args reply;
	char line[80], told[600];
	int ret;

	if (what && !strcmp(what, "packet"))
		return no_packet(r);
	if (what && !strcmp(what, "cm"))
		return no_cm(r, a);
	if (what && !strcmp(what, "event"))
		snprintf(line, sizeof(line), "event");
	else if (what && (!strcmp(what, "wc") || !strcmp(what, "notify")))
		snprintf(line, sizeof(line), "%s cq=%.40s", *what == 'w' ? "poll" : "notified",
			 cq ? cq : "cq");
	else
		return run_fail(r, "no wc, no event, no notify, no cm or no packet");
	ret = await(r, line, 0, &reply);
	if (ret == 1) {
		reply_tell(&reply, told, sizeof(told));
		ret = run_fail(r, "expected: %s\n  got:      %s", r->source, told);
	}
	args_free(&reply);
	return ret;
}

/* log "TEXT": the device's last line has this in it (in process only) */
int verb_log(struct run *r, struct args *a)
{
	const char *want = args_word(a), *got;
	struct args reply;
	size_t len = want ? strlen(want) : 0;
	char text[200];
	int ret = run_exec(r, "log", &reply);

	if (ret == 0 && (len < 2 || *want != '"')) {
		ret = run_fail(r, "log \"TEXT\"");
	} else if (ret == 0) {
		snprintf(text, sizeof(text), "%.*s", (int)(len - 2), want + 1);
		got = args_str(&reply, "log", "");
		if (!strstr(got, text))
			ret = run_fail(r, "log\n  expected: %s\n  got:      %s", want, got);
	}
	args_free(&reply);
	return ret;
}
