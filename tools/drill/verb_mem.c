/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* mem, poke and memory: what lies in the device's regions. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "names.h"
#include "run.h"

#define MEM_MAX 65536

/* mem ADDR len=N data=DATA */
int verb_mem(struct run *r, struct args *a)
{
	static uint8_t want[MEM_MAX], got[MEM_MAX];
	const char *addr = args_word(a), *data = args_str(a, "data", "mr");
	uint64_t len = args_num(a, "len", 0), at;
	struct args reply;
	struct text t;
	long n;
	int ret;

	if (!addr || !num_parse(addr, &at))
		return run_fail(r, "mem ADDR len=N data=DATA");
	n = len <= MEM_MAX ? data_fill(data, want, len, sizeof(want)) : -1;
	if (n < 0)
		return run_fail(r, "data=%s with len=%" PRIu64 " is not understood", data, len);
	text_begin(&t);
	text_add(&t, "peek addr=%" PRIu64 " len=%ld", at, n);
	ret = run_exec(r, t.buf, &reply);
	text_end(&t);
	if (ret > 0)
		ret = run_fail(r, "mem: %s", errno_word(ret));
	if (ret == 0) {
		text_begin(&t);
		text_add(&t, "hex:%s", args_str(&reply, "data", ""));
		if (data_fill(t.buf, got, (size_t)n, sizeof(got)) != n)
			ret = run_fail(r, "no %ld bytes came", n);
		text_end(&t);
	}
	for (long i = 0; ret == 0 && i < n; i++)
		if (want[i] != got[i])
			ret = run_fail(
				r, "memory at offset %ld\n  expected: 0x%02x\n  got:      0x%02x",
				i, want[i], got[i]);
	args_free(&reply);
	return ret;
}

/* poke ADDR data=DATA [len=N] */
int verb_poke(struct run *r, struct args *a)
{
	static uint8_t bytes[MEM_MAX];
	const char *addr = args_word(a), *data = args_str(a, "data", "zero");
	uint64_t len = args_num(a, "len", 0), at;
	struct args reply;
	struct text t;
	bool done;
	long n;
	int ret;

	if (!addr || !num_parse(addr, &at))
		return run_fail(r, "poke ADDR data=DATA");
	n = len <= MEM_MAX ? data_fill(data, bytes, len, sizeof(bytes)) : -1;
	if (n < 0)
		return run_fail(r, "data=%s with len=%" PRIu64 " is not understood", data, len);
	text_begin(&t);
	text_add(&t, "poke addr=%" PRIu64 " len=%ld data=", at, n);
	text_hex(&t, bytes, (size_t)n);
	ret = run_exec_errno(r, a, t.buf, &reply, &done);
	args_free(&reply);
	text_end(&t);
	return ret;
}

/* memory ADDR ok|busy|gone|broken: how accesses of it end (live: broken or gone only, for good) */
int verb_memory(struct run *r, struct args *a)
{
	const char *addr = args_word(a), *state = args_word(a);
	struct args reply;
	char line[120];
	uint64_t at;
	bool done;
	int ret;

	if (!addr || !num_parse(addr, &at) || !state)
		return run_fail(r, "memory ADDR ok|busy|gone|broken");
	snprintf(line, sizeof(line), "memory addr=%" PRIu64 " %.20s", at, state);
	ret = run_exec_errno(r, a, line, &reply, &done);
	args_free(&reply);
	return ret;
}
