/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of rnicctl, as the daemon answers them: text, or JSON by json-c. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/cc.h"
#include "rnic/qp.h"
#include "tools/adapter.h"
#include "tools/captures.h"
#include "tools/cc.h"
#include "tools/daemon.h"
#include "tools/faults.h"
#include "tools/qpdot.h"
#include "verbs/kernel/admin.h"
#include "verbs/kernel/ucma.h"

#define QPN_MAX 0xffffff

static void gid_text(const uint8_t gid[16], char *buf, size_t size)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (memcmp(gid, mapped, sizeof(mapped)))
		inet_ntop(AF_INET6, gid, buf, (socklen_t)size);
	else
		inet_ntop(AF_INET, gid + 12, buf, (socklen_t)size);
}

static struct json_object *text_new(const char *text)
{
	return json_object_new_string(text);
}

static struct json_object *number_new(uint64_t n)
{
	return json_object_new_uint64(n);
}

static struct json_object *gids_new(const struct adapter *a)
{
	struct json_object *gids = json_object_new_array();
	char text[INET6_ADDRSTRLEN];

	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++) {
		const uint8_t *gid = rnic_gid_get(a->rnic, (uint16_t)i);
		struct json_object *g;

		if (!gid)
			continue;
		gid_text(gid, text, sizeof(text));
		g = json_object_new_object();
		json_object_object_add(g, "index", number_new(i));
		json_object_object_add(g, "address", text_new(text));
		json_object_array_add(gids, g);
	}
	return gids;
}

static struct json_object *link_new(const struct adapter *a)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", text_new(a->kdev.name));
	json_object_object_add(o, "netdev", text_new(a->kdev.netdev));
	json_object_object_add(o, "state", text_new(rnic_port_active(a->rnic) ? "ACTIVE" : "DOWN"));
	json_object_object_add(o, "mtu", number_new(rnic_mtu_bytes(rnic_port_mtu(a->rnic))));
	json_object_object_add(o, "tx_mode", text_new(net_port_tx_mode(a->port)));
	json_object_object_add(o, "rcvbuf", number_new(net_port_rcvbuf(a->port)));
	json_object_object_add(o, "gids", gids_new(a));
	return o;
}

static struct json_object *stat_new(const struct adapter *a)
{
	const struct rnic_counters *c = rnic_device_counters(a->rnic);
	const struct net_counters *n = net_port_counters(a->port);
	struct json_object *o = json_object_new_object(), *objects = json_object_new_object();
	struct rnic_counts counts;

	json_object_object_add(o, "name", text_new(a->kdev.name));
#define X(field) json_object_object_add(o, #field, number_new(c->field));
	RNIC_COUNTERS(X)
#undef X
#define N(field) json_object_object_add(o, #field, number_new(n->field));
	N(tx_datagrams)
	N(tx_runs)
	N(tx_calls)
	N(rx_datagrams)
	N(rx_merged)
	N(rx_calls)
	N(tx_errors)
	N(tx_again)
	N(icrc_errors)
	N(icrc_solved)
	N(fault_hits)
	N(fault_drops)
#undef N
	rnic_device_counts(a->rnic, &counts);
#define O(field) json_object_object_add(objects, #field, number_new(counts.field));
	O(pd)
	O(mr)
	O(mw)
	O(cq)
	O(srq)
	O(qp)
	O(ah)
#undef O
	json_object_object_add(objects, "context", number_new(kernel_contexts(a->daemon->kernel)));
	json_object_object_add(objects, "session", number_new(kernel_sessions(a->daemon->kernel)));
	json_object_object_add(o, "objects", objects);
	json_object_object_add(o, "sleeps", number_new(a->daemon->sleeps));
	return o;
}

static struct json_object *qp_new(const struct adapter *a, const struct rnic_qp *qp)
{
	struct json_object *o = json_object_new_object();
	struct rnic_qp_info i;
	uint32_t alpha;
	char peer[INET6_ADDRSTRLEN] = "";

	rnic_qp_info_get(qp, &i);
	if (i.type == RNIC_QPT_RC || i.type == RNIC_QPT_UC)
		gid_text(i.av.dgid, peer, sizeof(peer));
	json_object_object_add(o, "device", text_new(a->kdev.name));
	json_object_object_add(o, "qpn", number_new(i.qpn));
	json_object_object_add(o, "type", text_new(qpdot_type_name(i.type)));
	json_object_object_add(o, "state", text_new(rnic_qp_state_name(i.state)));
	json_object_object_add(o, "peer", text_new(peer));
	json_object_object_add(o, "dest_qpn", number_new(i.dest_qpn));
	json_object_object_add(o, "sq_psn", number_new(i.sq_psn));
	json_object_object_add(o, "sq_una_psn", number_new(i.sq_una_psn));
	json_object_object_add(o, "rq_psn", number_new(i.rq_psn));
	json_object_object_add(o, "msn", number_new(i.msn));
	json_object_object_add(o, "outstanding", number_new(i.outstanding));
	json_object_object_add(o, "retransmitted", number_new(i.retransmitted));
	json_object_object_add(o, "cc_rate", number_new(rnic_qp_cc_rate(qp, daemon_now(), &alpha)));
	json_object_object_add(o, "cc_alpha", number_new(alpha));
	return o;
}

static void cc_collect(const struct adapter *a, struct json_object *array)
{
	const struct cc_params *p = rnic_cc_get(a->rnic);
	struct json_object *o = json_object_new_object();
	const char *name;
	uint32_t value;

	json_object_object_add(o, "name", text_new(a->kdev.name));
	json_object_object_add(o, "mode", text_new(cc_mode_name(p->mode)));
	for (uint32_t i = 0; cc_params_get(p, i, &name, &value); i++)
		json_object_object_add(o, name, number_new(value));
	json_object_array_add(array, o);
}

static void cm_collect(struct daemon *d, const char *device, struct json_object *array)
{
	struct ucma_info i;
	uint32_t cursor = 0;

	while (ucma_info_next(d->kernel, &cursor, &i)) {
		struct json_object *o;

		if (device && strcmp(device, i.device))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "id", number_new(cursor));
		json_object_object_add(o, "device", text_new(i.device));
		json_object_object_add(o, "space", text_new(i.space));
		json_object_object_add(o, "state", text_new(i.state));
		json_object_object_add(o, "cm", text_new(i.cm));
		json_object_object_add(o, "src", text_new(i.src));
		json_object_object_add(o, "dst", text_new(i.dst));
		json_object_object_add(o, "qpn", number_new(i.qpn));
		json_object_object_add(o, "dest_qpn", number_new(i.remote_qpn));
		json_object_array_add(array, o);
	}
}

static void captures_list(struct daemon *d, const char *device, struct json_object *array)
{
	(void)device;
	captures_collect(d, array);
}

typedef void (*collect_fn)(const struct adapter *a, struct json_object *array);
typedef void (*all_fn)(struct daemon *d, const char *device, struct json_object *array);

static void links_collect(const struct adapter *a, struct json_object *array)
{
	json_object_array_add(array, link_new(a));
}

static void stats_collect(const struct adapter *a, struct json_object *array)
{
	json_object_array_add(array, stat_new(a));
}

static void qps_collect(const struct adapter *a, struct json_object *array)
{
	uint32_t qpn = 0;
	struct rnic_qp *qp;

	while ((qp = rnic_device_qp_after(a->rnic, qpn))) {
		json_object_array_add(array, qp_new(a, qp));
		qpn = rnic_qp_num(qp);
	}
}

/* "key value key value ..." of one object, nested ones in brackets. */
static void object_print(struct json_object *o, struct admin_reply *reply)
{
	const char *space = "";

	json_object_object_foreach(o, key, value)
	{
		admin_printf(reply, "%s%s ", space, key);
		space = " ";
		if (json_object_is_type(value, json_type_array)) {
			for (size_t i = 0; i < json_object_array_length(value); i++) {
				admin_printf(reply, "[");
				object_print(json_object_array_get_idx(value, i), reply);
				admin_printf(reply, "]");
			}
		} else if (json_object_is_type(value, json_type_object)) {
			admin_printf(reply, "[");
			object_print(value, reply);
			admin_printf(reply, "]");
		} else {
			const char *text = json_object_get_string(value);

			admin_printf(reply, "%s", *text ? text : "-");
		}
	}
}

static const struct command {
	const char *words[2];
	collect_fn collect; /* of each device, */
	all_fn all;	    /* or of the daemon, perhaps as far as a device is concerned */
} commands[] = {
	{{"link", "show"}, links_collect, NULL}, {{"stat", NULL}, stats_collect, NULL},
	{{"qp", NULL}, qps_collect, NULL},	 {{"cc", "show"}, cc_collect, NULL},
	{{"cm", NULL}, NULL, cm_collect},	 {{"capture", "list"}, NULL, captures_list},
};

static bool command_is(const struct command *c, int argc, char **argv, int *used)
{
	*used = c->words[1] ? 2 : 1;
	if (argc < *used || strcmp(argv[0], c->words[0]))
		return false;
	return !c->words[1] || !strcmp(argv[1], c->words[1]);
}

static int answer(struct daemon *d, const struct command *c, const char *device, bool json,
		  struct admin_reply *reply)
{
	struct json_object *array = json_object_new_array();
	bool found = !device;

	for (struct adapter *a = d->adapters; a; a = a->next)
		if (!device || !strcmp(device, a->kdev.name)) {
			found = true;
			if (c->collect)
				c->collect(a, array);
		}
	if (found && c->all)
		c->all(d, device, array);
	if (!found)
		admin_printf(reply, "no device is called %s", device);
	else if (json)
		admin_printf(reply, "%s",
			     json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	for (size_t i = 0; found && !json && i < json_object_array_length(array); i++) {
		object_print(json_object_array_get_idx(array, i), reply);
		admin_printf(reply, "\n");
	}
	json_object_put(array);
	return found ? 0 : -ENODEV;
}

static void dot_print(const struct adapter *a, const struct rnic_qp *qp, struct admin_reply *reply)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return;
	qpdot_draw_qp(to, a->kdev.name, qp);
	fclose(to);
	admin_printf(reply, "%s", text);
	free(text);
}

/* The QP of that number on the device of that name, or on the only one that has such a QP. */
static int dot_answer(struct daemon *d, const char *number, const char *device,
		      struct admin_reply *reply)
{
	const struct adapter *on = NULL;
	struct rnic_qp *qp = NULL;
	char *end;
	unsigned long qpn = strtoul(number, &end, 0);

	if (!*number || *end || qpn == 0 || qpn > QPN_MAX) {
		admin_printf(reply, "%s is not the number of a QP", number);
		return -EINVAL;
	}
	for (struct adapter *a = d->adapters; a; a = a->next) {
		struct rnic_qp *found = rnic_device_qp_after(a->rnic, (uint32_t)qpn - 1);

		if ((device && strcmp(device, a->kdev.name)) || !found || rnic_qp_num(found) != qpn)
			continue;
		if (on) {
			admin_printf(reply, "%s and %s have a QP %lu: name the device",
				     on->kdev.name, a->kdev.name, qpn);
			return -EINVAL;
		}
		on = a;
		qp = found;
	}
	if (on)
		dot_print(on, qp, reply);
	else
		admin_printf(reply, "there is no QP %lu%s%s; rnicctl qp lists them", qpn,
			     device ? " on " : "", device ? device : "");
	return on ? 0 : -ENOENT;
}

/* Captures show all data, so starting and ending them is as good as changing something. */
static bool command_changes(int argc, char **argv)
{
	static const char *const verbs[][2] = {
		{"link", "add"},    {"link", "del"},	  {"link", "set"},
		{"cc", "set"},	    {"fault", "add"},	  {"fault", "del"},
		{"fault", "clear"}, {"capture", "start"}, {"capture", "stop"},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(argv[0], verbs[i][0]) && !strcmp(argv[1], verbs[i][1]))
			return true;
	return false;
}

int commands_run(void *daemon, int argc, char **argv, bool json, struct admin_reply *reply)
{
	int used;

	if (!reply->may_change && command_changes(argc, argv)) {
		admin_printf(reply, "only root and the user of rnicd may %s %s", argv[0], argv[1]);
		return -EPERM;
	}
	if (argc >= 3 && argc <= 4 && !strcmp(argv[0], "qp") && !strcmp(argv[1], "dot"))
		return dot_answer(daemon, argv[2], argv[3], reply);
	if (argc >= 2 && !strcmp(argv[0], "cc") && !strcmp(argv[1], "set"))
		return cc_set(daemon, argc - 2, argv + 2, reply);
	if (argc >= 1 && !strcmp(argv[0], "link") && (argc < 2 || strcmp(argv[1], "show")))
		return devices_link(daemon, argc - 1, argv + 1, reply);
	if (argc && !strcmp(argv[0], "fault"))
		return faults_command(daemon, argc, argv, json, reply);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (command_is(&commands[i], argc, argv, &used) && argc <= used + 1)
			return answer(daemon, &commands[i], argc > used ? argv[used] : NULL, json,
				      reply);
	if (argc > 1 && !strcmp(argv[0], "capture"))
		return captures_command(daemon, argc, argv, reply);
	admin_printf(reply, "unknown command%s%s; see rnicctl(8)", argc ? ": " : "",
		     argc ? argv[0] : "");
	return -EINVAL;
}
