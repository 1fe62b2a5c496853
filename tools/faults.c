/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules: from options and a file when a device is made, by rnicctl while it works. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "net/fault_file.h"
#include "tools/adapter.h"
#include "tools/daemon.h"
#include "tools/faults.h"

#define FILE_MAX ((size_t)1 << 20)

/* The rules of the options go to one device, or are only looked at. */
struct applied {
	struct fault_rules *rules;
	const char *device; /* NULL: any */
};

static int line_apply(void *ctx, const struct fault_line *line, char *err, size_t err_size)
{
	struct applied *to = ctx;
	uint32_t id;

	if (!to->device)
		fault_rules_clear(to->rules);
	else if (line->device && strcmp(line->device, to->device))
		return 0;
	if (line->seeded)
		fault_rules_seed(to->rules, line->seed);
	return fault_rules_add(to->rules, daemon_now(), line->rule, &id, err, err_size);
}

/* All that the file has, at once: it may be a pipe, and devices may come later. */
static int file_load(struct daemon *d)
{
	const char *path = d->opt.fault_file, *why = NULL;
	FILE *from = fopen(path, "re");

	if (!from) {
		daemon_logf("--faults %s: %s", path, strerror(errno));
		return -errno;
	}
	d->fault_text = malloc(FILE_MAX + 1);
	if (d->fault_text)
		d->fault_len = fread(d->fault_text, 1, FILE_MAX + 1, from);
	if (!d->fault_text || ferror(from))
		why = "it cannot be read";
	else if (d->fault_len > FILE_MAX)
		why = "it is longer than 1 MB";
	if (why)
		daemon_logf("--faults %s: %s", path, why);
	fclose(from);
	return why ? -EIO : 0;
}

static int file_apply(struct daemon *d, struct applied *to)
{
	char err[FAULT_ERROR_MAX] = "";
	FILE *from = d->fault_len ? fmemopen(d->fault_text, d->fault_len, "r") : NULL;
	int rc;

	if (!from)
		return d->fault_len ? -errno : 0;
	rc = fault_file_read(from, line_apply, to, err, sizeof(err));
	if (rc)
		daemon_logf("--faults %s: %s", d->opt.fault_file, err);
	fclose(from);
	return rc;
}

static int options_apply(struct daemon *d, struct applied *to)
{
	int rc = file_apply(d, to);

	for (uint32_t i = 0; !rc && i < d->opt.n_faults; i++) {
		struct fault_line line = {.rule = d->opt.faults[i]};
		char err[FAULT_ERROR_MAX];

		rc = line_apply(to, &line, err, sizeof(err));
		if (rc)
			daemon_logf("%s", err);
	}
	return rc;
}

int faults_load(struct daemon *d)
{
	struct applied to = {.rules = fault_rules_create()};
	int rc = to.rules ? 0 : -ENOMEM;

	if (!rc && d->opt.fault_file)
		rc = file_load(d);
	if (!rc)
		rc = options_apply(d, &to);

	fault_rules_destroy(to.rules);
	return rc;
}

void faults_unload(struct daemon *d)
{
	free(d->fault_text);
	d->fault_text = NULL;
	d->fault_len = 0;
}

int faults_apply(struct adapter *a)
{
	struct applied to = {.rules = a->faults, .device = a->kdev.name};

	return options_apply(a->daemon, &to);
}

/* ---- rnicctl fault ---- */

static struct adapter *device_find(struct daemon *d, const char *name, struct admin_reply *reply)
{
	struct adapter *a = d->adapters;

	while (a && strcmp(a->kdev.name, name))
		a = a->next;
	if (!a)
		admin_printf(reply, "no device is called %s", name);
	return a;
}

static int rule_add(struct adapter *a, int argc, char **argv, bool json, struct admin_reply *reply)
{
	char text[2 * FAULT_TEXT_MAX] = "", err[FAULT_ERROR_MAX];
	size_t len = 0;
	uint32_t id;
	int rc;

	for (int i = 0; i < argc && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					argv[i]);
	rc = fault_rules_add(a->faults, daemon_now(), text, &id, err, sizeof(err));
	if (rc)
		admin_printf(reply, "%s", err);
	else if (json)
		admin_printf(reply, "[ { \"device\": \"%s\", \"id\": %" PRIu32 " } ]", a->kdev.name,
			     id);
	else
		admin_printf(reply, "%s rule %" PRIu32 "\n", a->kdev.name, id);
	return rc;
}

static int rule_del(struct adapter *a, const char *number, struct admin_reply *reply)
{
	char *end;
	unsigned long id = strtoul(number, &end, 10);

	if (*number >= '0' && *number <= '9' && !*end && id <= UINT32_MAX &&
	    !fault_rules_del(a->faults, (uint32_t)id))
		return 0;
	admin_printf(reply, "fault: %s has no rule %s; rnicctl fault list shows them", a->kdev.name,
		     number);
	return -ENOENT;
}

static struct json_object *rule_new(const struct adapter *a, const struct fault_info *i)
{
	static const char *const directions[] = {
		[FAULT_RX] = "ingress", [FAULT_TX] = "egress", [FAULT_RX | FAULT_TX] = "both"};
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "device", json_object_new_string(a->kdev.name));
	json_object_object_add(o, "id", json_object_new_uint64(i->id));
	json_object_object_add(o, "direction", json_object_new_string(directions[i->dirs]));
	json_object_object_add(o, "action", json_object_new_string(i->action));
	json_object_object_add(o, "rule", json_object_new_string(i->text));
	json_object_object_add(o, "seen", json_object_new_uint64(i->seen));
	json_object_object_add(o, "fired", json_object_new_uint64(i->fired));
	return o;
}

static void rules_list(const struct adapter *a, struct json_object *array,
		       struct admin_reply *reply)
{
	char line[FAULT_TEXT_MAX + 128];
	struct fault_info info;

	for (uint32_t i = 0; !fault_rules_info(a->faults, i, &info); i++) {
		if (array) {
			json_object_array_add(array, rule_new(a, &info));
			continue;
		}
		fault_rules_print(a->faults, i, line, sizeof(line));
		admin_printf(reply, "%s %s\n", a->kdev.name, line);
	}
}

/* Of one device, or of all. */
static int list_answer(struct daemon *d, const struct adapter *only, bool json,
		       struct admin_reply *reply)
{
	struct json_object *array = json ? json_object_new_array() : NULL;

	for (struct adapter *a = d->adapters; a; a = a->next)
		if (!only || a == only)
			rules_list(a, array, reply);
	if (json)
		admin_printf(reply, "%s",
			     json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	return 0;
}

static int clear_answer(struct daemon *d, const struct adapter *only)
{
	for (struct adapter *a = d->adapters; a; a = a->next)
		if (!only || a == only)
			fault_rules_clear(a->faults);
	return 0;
}

int faults_command(struct daemon *d, int argc, char **argv, bool json, struct admin_reply *reply)
{
	const char *verb = argc > 1 ? argv[1] : "";
	struct adapter *a = argc > 2 ? device_find(d, argv[2], reply) : NULL;

	if (argc > 2 && !a)
		return -ENODEV;
	if (!strcmp(verb, "add") && argc > 3)
		return rule_add(a, argc - 3, argv + 3, json, reply);
	if (!strcmp(verb, "del") && argc == 4)
		return rule_del(a, argv[3], reply);
	if (!strcmp(verb, "list") && argc <= 3)
		return list_answer(d, a, json, reply);
	if (!strcmp(verb, "clear") && argc <= 3)
		return clear_answer(d, a);
	admin_printf(reply, "fault add DEVICE RULE, del DEVICE ID, list [DEVICE] or clear [DEVICE] "
			    "is wanted; see rnicctl(8)");
	return -EINVAL;
}
