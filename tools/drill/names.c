/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables of words. The values are the kernel's ABI's, which libibverbs and the core share. */
#include "config.h"

#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

#define ERRNO_MAX 133

struct name {
	const char *word;
	uint32_t value;
};

static const struct name types[] = {{"gsi", 1}, {"rc", 2}, {"uc", 3}, {"ud", 4}, {NULL, 0}};

static const struct name states[] = {{"reset", 0}, {"init", 1}, {"rtr", 2}, {"rts", 3},
				     {"sqd", 4},   {"sqe", 5},	{"err", 6}, {NULL, 0}};

static const struct name statuses[] = {
	{"success", 0},	       {"loc_len_err", 1},
	{"loc_qp_op_err", 2},  {"loc_prot_err", 4},
	{"wr_flush_err", 5},   {"mw_bind_err", 6},
	{"bad_resp_err", 7},   {"loc_access_err", 8},
	{"rem_inv_req", 9},    {"rem_inv_req_err", 9},
	{"rem_access", 10},    {"rem_access_err", 10},
	{"rem_op", 11},	       {"rem_op_err", 11},
	{"retry_exc", 12},     {"retry_exc_err", 12},
	{"rnr_retry", 13},     {"rnr_retry_exc_err", 13},
	{"rem_abort_err", 16}, {"fatal_err", 19},
	{"general_err", 21},   {NULL, 0},
};

static const struct name opcodes[] = {
	{"send", 0},
	{"write", 1},
	{"read", 2},
	{"cmp_swap", 3},
	{"fetch_add", 4},
	{"bind_mw", 5},
	{"local_inv", 6},
	{"flush", 8},
	{"atomic_write", 9},
	{"recv", 128},
	{"recv_write_imm", 129},
	{NULL, 0},
};

static const struct name ops[] = {
	{"write", 0},	 {"write_imm", 1},     {"send", 2},	 {"send_imm", 3}, {"read", 4},
	{"cmp_swap", 5}, {"fetch_add", 6},     {"local_inv", 7}, {"bind_mw", 8},  {"send_inv", 9},
	{"flush", 14},	 {"atomic_write", 15}, {NULL, 0},
};

static const struct name send_flags[] = {{"none", 0},	   {"fence", 1},  {"signaled", 2},
					 {"solicited", 4}, {"inline", 8}, {NULL, 0}};

static const struct name with[] = {{"none", 0}, {"grh", 1}, {"imm", 2}, {"inv", 8}, {NULL, 0}};

static const struct name access_flags[] = {
	{"none", 0},	      {"local_write", 1},    {"remote_write", 2},	{"remote_read", 4},
	{"remote_atomic", 8}, {"mw_bind", 16},	     {"zero_based", 32},	{"on_demand", 64},
	{"all", 15},	      {"flush_global", 256}, {"flush_persistent", 512}, {NULL, 0}};

static const struct name mtus[] = {{"256", 1},	{"512", 2},  {"1024", 3},
				   {"2048", 4}, {"4096", 5}, {NULL, 0}};

static const struct name events[] = {
	{"cq_err", 0},	     {"qp_fatal", 1},	 {"qp_req_err", 2},  {"qp_access_err", 3},
	{"comm_est", 4},     {"sq_drained", 5},	 {"path_mig", 6},    {"path_mig_err", 7},
	{"device_fatal", 8}, {"port_active", 9}, {"port_err", 10},   {"srq_err", 14},
	{"srq_limit", 15},   {"last_wqe", 16},	 {"gid_change", 18}, {NULL, 0},
};

static const struct name syndromes[] = {
	{"ack", 0x1f},	      {"nak_seq", 0x60}, {"nak_inv", 0x61},
	{"nak_access", 0x62}, {"nak_op", 0x63},	 {NULL, 0},
};

static const struct name reasons[] = {
	{"no_qp", 1},
	{"no_eec", 2},
	{"no_resources", 3},
	{"timeout", 4},
	{"unsupported", 5},
	{"invalid_comm_id", 6},
	{"invalid_comm_instance", 7},
	{"invalid_service_id", 8},
	{"invalid_transport_type", 9},
	{"stale_conn", 10},
	{"rdc_not_exist", 11},
	{"invalid_gid", 12},
	{"invalid_lid", 13},
	{"invalid_sl", 14},
	{"invalid_traffic_class", 15},
	{"invalid_hop_limit", 16},
	{"invalid_packet_rate", 17},
	{"invalid_alt_gid", 18},
	{"invalid_alt_lid", 19},
	{"invalid_alt_sl", 20},
	{"invalid_alt_traffic_class", 21},
	{"invalid_alt_hop_limit", 22},
	{"invalid_alt_packet_rate", 23},
	{"port_cm_redirect", 24},
	{"port_redirect", 25},
	{"invalid_mtu", 26},
	{"insufficient_resp_resources", 27},
	{"consumer", 28},
	{"invalid_rnr_retry", 29},
	{"duplicate_local_comm_id", 30},
	{"invalid_class_version", 31},
	{"invalid_flow_label", 32},
	{"invalid_alt_flow_label", 33},
	{"vendor_option_not_supported", 35},
	{NULL, 0},
};

static const struct name which[] = {{"req", 0}, {"rep", 1}, {"other", 2}, {NULL, 0}};

static const struct name cm_events[] = {
	{"addr_resolved", 0},
	{"addr_error", 1},
	{"route_resolved", 2},
	{"route_error", 3},
	{"connect_request", 4},
	{"connect_response", 5},
	{"connect_error", 6},
	{"unreachable", 7},
	{"rejected", 8},
	{"established", 9},
	{"disconnected", 10},
	{"device_removal", 11},
	{"multicast_join", 12},
	{"multicast_error", 13},
	{"addr_change", 14},
	{"timewait_exit", 15},
	{NULL, 0},
};

static const struct name spaces[] = {{"ib", 0x13f}, {"tcp", 0x106}, {"udp", 0x111}, {NULL, 0}};

static const struct {
	const char *key;
	const struct name *names;
} tables[] = {
	{"type", types},       {"state", states},   {"cur_state", states},
	{"status", statuses},  {"opcode", opcodes}, {"op", ops},
	{"flags", send_flags}, {"with", with},	    {"access", access_flags},
	{"path_mtu", mtus},    {"event", events},   {"syndrome", syndromes},
	{"reason", reasons},   {"which", which},    {"cm_event", cm_events},
	{"space", spaces},
};

static const struct name *table(const char *key)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(tables[i].key, key))
			return tables[i].names;
	return NULL;
}

static bool word_value(const struct name *names, const char *word, size_t len, uint64_t *value)
{
	for (; names->word; names++) {
		if (strlen(names->word) == len && !strncmp(names->word, word, len)) {
			*value |= names->value;
			return true;
		}
	}
	return false;
}

bool name_known(const char *key)
{
	return table(key) != NULL;
}

bool name_value(const char *key, const char *text, uint64_t *value)
{
	const struct name *names = table(key);
	const char *p = text;

	*value = 0;
	while (names) {
		size_t len = strcspn(p, ",");

		if (!word_value(names, p, len, value))
			break;
		if (!p[len])
			return true;
		p += len + 1;
	}
	return num_parse(text, value);
}

const char *name_of(const char *key, uint64_t value)
{
	for (const struct name *n = table(key); n && n->word; n++)
		if (n->value == value)
			return n->word;
	return NULL;
}

bool name_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (!strncmp(p, word, n) && (p[n] == ',' || !p[n]))
			return true;
	return false;
}

const char *errno_word(int err)
{
	const char *s = err > 0 ? strerrorname_np(err) : NULL;

	return s ? s : "unknown";
}

int errno_value(const char *name)
{
	for (int i = 1; i <= ERRNO_MAX; i++)
		if (!strcmp(errno_word(i), name))
			return i;
	if (!strcmp(name, "ENOTSUP"))
		return EOPNOTSUPP;
	return -1;
}
