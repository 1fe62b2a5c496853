/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QP state machine as Graphviz text. */
#include "config.h"

#include "tools/qpdot.h"

#include <inttypes.h>
#include <string.h>

#include "rnic/qp.h"
#include "rnic/qp_table.h"

#define ATTRS 32

static const char *const type_names[] = {
	[RNIC_QPT_GSI] = "GSI", [RNIC_QPT_RC] = "RC", [RNIC_QPT_UC] = "UC", [RNIC_QPT_UD] = "UD"};

/* The steps that a QP took, oldest first. */
struct way {
	struct rnic_qp_step step[RNIC_QP_STEPS_MAX];
	uint32_t n;
	uint64_t forgotten;
};

const char *qpdot_type_name(enum rnic_qp_type type)
{
	return type >= RNIC_QPT_GSI && type <= RNIC_QPT_UD ? type_names[type] : "?";
}

bool qpdot_type_find(const char *name, enum rnic_qp_type *type)
{
	for (int i = RNIC_QPT_GSI; i <= RNIC_QPT_UD; i++) {
		if (strcmp(name, type_names[i]))
			continue;
		*type = (enum rnic_qp_type)i;
		return true;
	}
	return false;
}

static void attrs_print(FILE *to, uint32_t mask, const char *between)
{
	const char *space = "";

	for (uint32_t i = 0; i < ATTRS; i++) {
		if (!(mask & 1u << i))
			continue;
		fprintf(to, "%s%s", space, qp_attr_name(i) + strlen("IBV_QP_"));
		space = between;
	}
	if (!mask)
		fputs("nothing", to);
}

/* "#2 +1.5 ms" for each time that the way goes there; how often. */
static uint32_t times_print(FILE *to, const struct way *way, enum rnic_qp_state from,
			    enum rnic_qp_state dest)
{
	uint32_t times = 0;

	for (uint32_t i = 0; i < way->n; i++) {
		const struct rnic_qp_step *s = &way->step[i];

		if (s->from != from || s->to != dest)
			continue;
		if (to)
			fprintf(to, "#%" PRIu64 " +%.3f ms%s\\n", way->forgotten + i + 1,
				(double)(s->at - way->step[0].at) / 1e6,
				s->by_error ? " by an error" : "");
		times++;
	}
	return times;
}

/* Those that every state has would pull the picture together. */
static bool is_side_way(enum rnic_qp_state dest)
{
	return dest == RNIC_QPS_RESET || dest == RNIC_QPS_ERR;
}

static void edge_print(FILE *to, const struct way *way, enum rnic_qp_state from,
		       enum rnic_qp_state dest, const struct qp_rule *rule)
{
	bool taken = times_print(NULL, way, from, dest);

	fprintf(to, "\t%s -> %s [label=\"", rnic_qp_state_name(from), rnic_qp_state_name(dest));
	times_print(to, way, from, dest);
	if (rule->required)
		attrs_print(to, rule->required, "\\n");
	if (!rule->legal) {
		fputs("\", tooltip=\"a send that fails leads there\", style=dashed", to);
	} else {
		fputs("\", tooltip=\"needs ", to);
		attrs_print(to, rule->required, ", ");
		fputs("; may take ", to);
		attrs_print(to, rule->optional, ", ");
		fputs("\"", to);
	}
	if (is_side_way(dest) && !taken)
		fputs(", constraint=false, color=gray", to);
	if (taken)
		fputs(", class=taken, color=\"#b03020\", fontcolor=\"#b03020\", penwidth=3", to);
	fputs("];\n", to);
}

/* What no modify does. */
static bool send_error_leads(enum rnic_qp_type type, enum rnic_qp_state from,
			     enum rnic_qp_state dest)
{
	return (from == RNIC_QPS_RTS || from == RNIC_QPS_SQD) && dest == qp_table_send_error(type);
}

static void edges_print(FILE *to, enum rnic_qp_type type, const struct way *way)
{
	for (int f = 0; f < RNIC_QPS_COUNT; f++) {
		for (int t = 0; t < RNIC_QPS_COUNT; t++) {
			enum rnic_qp_state from = (enum rnic_qp_state)f,
					   dest = (enum rnic_qp_state)t;
			struct qp_rule rule = qp_table_rule(type, from, dest);

			if (rule.legal || send_error_leads(type, from, dest) ||
			    times_print(NULL, way, from, dest))
				edge_print(to, way, from, dest, &rule);
		}
	}
}

static void head_print(FILE *to, const char *title)
{
	fprintf(to,
		"digraph \"%s\" {\n"
		"\tgraph [label=\"%s\", labelloc=t, fontname=\"sans-serif\"];\n"
		"\tnode [shape=box, style=\"rounded,filled\", fillcolor=white, "
		"fontname=\"sans-serif\"];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=9];\n",
		title, title);
}

static void states_print(FILE *to, int here)
{
	for (int s = 0; s < RNIC_QPS_COUNT; s++)
		fprintf(to, "\t%s%s;\n", rnic_qp_state_name((enum rnic_qp_state)s),
			s == here ? " [class=here, fillcolor=\"#ffe08a\", penwidth=2]" : "");
}

void qpdot_draw_type(FILE *to, enum rnic_qp_type type)
{
	static const struct way none;
	char title[80];

	snprintf(title, sizeof(title), "%s queue pair: what ibv_modify_qp takes",
		 qpdot_type_name(type));
	head_print(to, title);
	states_print(to, -1);
	edges_print(to, type, &none);
	fputs("}\n", to);
}

void qpdot_draw_qp(FILE *to, const char *device, const struct rnic_qp *qp)
{
	enum rnic_qp_type type = rnic_qp_init_get(qp)->type;
	char title[160], lost[60] = "";
	struct way way;

	way.forgotten = rnic_qp_steps(qp, way.step, &way.n);
	if (way.forgotten)
		snprintf(lost, sizeof(lost), "; the first %" PRIu64 " steps are not kept",
			 way.forgotten);
	snprintf(title, sizeof(title), "%.40s QP %" PRIu32 ", %s, in %s%s", device, rnic_qp_num(qp),
		 qpdot_type_name(type), rnic_qp_state_name(rnic_qp_state(qp)), lost);
	head_print(to, title);
	states_print(to, (int)rnic_qp_state(qp));
	edges_print(to, type, &way);
	fputs("}\n", to);
}
