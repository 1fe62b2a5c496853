/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packet ladders of a capture: packets (ladder_packet.c) make flows between two ends
 * (ladder_flow.c), which are searched for what went wrong (ladder_rules.c, ladder_state.c) and cut
 * into rows (ladder_row.c) to be drawn (ladder_text.c, ladder_json.c, ladder_svg.c, ladder_html.c).
 */
#ifndef TOOLS_LADDER_H
#define TOOLS_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bth/packet.h"

#define LADDER_QPN_UNKNOWN UINT32_MAX
#define LADDER_SENDERS_MAX 16
#define LADDER_NOTE_MAX 160
#define LADDER_LABEL_MAX 128

enum ladder_mark {
	LADDER_AGAIN = 1 << 0,	     /* sent before */
	LADDER_LOST = 1 << 1,	     /* did not arrive; by what was said or done afterwards */
	LADDER_DROPPED = 1 << 2,     /* by its sender or receiver, who says so */
	LADDER_NAK = 1 << 3,	     /* is one */
	LADDER_RNR = 1 << 4,	     /* is one */
	LADDER_CNP = 1 << 5,	     /* is one */
	LADDER_CE = 1 << 6,	     /* came or left marked */
	LADDER_GAP = 1 << 7,	     /* what should come before it is not there */
	LADDER_TIMEOUT = 1 << 8,     /* is sent again because nothing was heard */
	LADDER_MALFORMED = 1 << 9,   /* no RoCEv2 packet, or with a wrong ICRC */
	LADDER_CM = 1 << 10,	     /* a message of communication management */
	LADDER_UNANSWERED = 1 << 11, /* the last that is seen, and nothing came back */
	LADDER_COMMENTED = 1 << 12,  /* who captured says something else */
};

struct ladder_packet {
	uint64_t time;	  /* ns since 1970 */
	uint64_t arrived; /* if it was captured at its receiver too, else 0 */
	uint8_t src[16], dst[16];
	uint16_t sport;
	uint8_t tos;
	bool out, in;	       /* where it was captured, if that is known */
	uint32_t marks;	       /* enum ladder_mark */
	uint32_t icrc;	       /* to know it again */
	uint32_t flow;	       /* its flow; UINT32_MAX: none */
	uint8_t from;	       /* end 0 or 1 of it */
	struct bth_packet bth; /* without payload */
	uint8_t cm_type;       /* LADDER_CM: enum cm_type */
	uint32_t cm_local, cm_remote, cm_qpn;
	uint64_t missing;	 /* so many are not in the capture before it */
	uint64_t silence;	 /* LADDER_TIMEOUT: ns since it, or what it waits for, was sent */
	uint32_t gap_psn, gap_n; /* LADDER_GAP: what is not there */
	char *comment;		 /* or NULL */
};

enum ladder_state {
	LADDER_STATE_UNKNOWN,
	LADDER_STATE_INIT,
	LADDER_STATE_RTR,
	LADDER_STATE_RTS,
	LADDER_STATE_ERR,
	LADDER_STATE_GONE, /* disconnected */
};

struct ladder_change {
	uint32_t packet; /* with this packet */
	uint8_t end;
	enum ladder_state state;
};

struct ladder_end {
	uint8_t addr[16];
	uint32_t qpn; /* LADDER_QPN_UNKNOWN */
};

struct ladder_counts {
	uint32_t packets, again, lost, naks, rnrs, timeouts, cnps, ces, dropped;
	uint64_t bytes[2]; /* of payload, from each end */
};

struct ladder_flow {
	struct ladder_end end[2];
	uint8_t transport; /* enum bth_transport */
	uint32_t *packets; /* in the order of time */
	uint32_t n, room;
	struct ladder_change *changes;
	uint32_t n_changes;
	struct ladder_counts counts;
};

struct ladder {
	struct ladder_packet *packets;
	uint32_t n, room;
	struct ladder_flow *flows;
	uint32_t n_flows;
	uint32_t others;			 /* frames that are not RoCEv2 */
	bool sides[2];				 /* packets were captured going out, coming in */
	uint8_t senders[LADDER_SENDERS_MAX][16]; /* the first addresses of those going out */
	uint32_t n_senders;
};

enum ladder_row_kind {
	LADDER_ROW_PACKET,
	LADDER_ROW_FOLD,    /* like packets, one behind the other */
	LADDER_ROW_QUIET,   /* many packets of which there is nothing to say */
	LADDER_ROW_SILENCE, /* a timeout: nobody says anything */
	LADDER_ROW_MISSING, /* packets are not in the capture */
};

struct ladder_row {
	enum ladder_row_kind kind;
	uint32_t first, last; /* of the flow's packets */
	uint64_t time;	      /* ns since the flow began */
	uint64_t bytes;	      /* of payload */
	uint8_t from;
	uint32_t marks;
	char label[LADDER_LABEL_MAX];
	char note[LADDER_NOTE_MAX];
};

struct ladder_rows {
	struct ladder_row *row;
	uint32_t n, room;
};

/* ladder_packet.c: 0 or -1, with a line in err; what was read before it counts. */
int ladder_load(struct ladder *l, const char *path, char *err, size_t err_size);
void ladder_free(struct ladder *l);
/* Did who captured say these words of it? */
bool ladder_says(const struct ladder_packet *p, const char *words);

/* ladder_flow.c: false: no memory. */
bool ladder_flows_find(struct ladder *l);

/* ladder_rules.c, ladder_state.c */
void ladder_flow_judge(struct ladder *l, struct ladder_flow *f);
bool ladder_flow_states(struct ladder *l, struct ladder_flow *f);
const char *ladder_state_name(enum ladder_state state);

/* ladder_row.c; all: nothing is left out for being ordinary. */
bool ladder_rows_make(const struct ladder *l, const struct ladder_flow *f, bool all,
		      struct ladder_rows *rows);
/* "1.234567 s", "12.5 us" */
void ladder_time_text(uint64_t ns, char *buf, size_t size);
/* "RC, 10.0.0.1 QP 17, 10.0.0.2 QP 18" and what was counted. */
void ladder_end_text(const struct ladder_end *e, char *buf, size_t size);
void ladder_counts_text(const struct ladder_flow *f, char *buf, size_t size);

/* ladder_text.c, ladder_json.c, ladder_svg.c, ladder_html.c; qpn 0: all flows. */
void ladder_text_draw(const struct ladder *l, uint32_t qpn, bool all, FILE *to);
void ladder_json_draw(const struct ladder *l, uint32_t qpn, bool all, FILE *to);
void ladder_svg_draw(const struct ladder *l, uint32_t qpn, bool all, FILE *to);
void ladder_html_draw(const struct ladder *l, uint32_t qpn, bool all, const char *title, FILE *to);
bool ladder_flow_wanted(const struct ladder_flow *f, uint32_t qpn);

struct ladder_options {
	const char *capture;
	const char *qp;	 /* number of a QP, or NULL: all */
	const char *out; /* NULL or "-": text or JSON on standard output; *.svg; else a page */
	bool all, json;
};

/* rnicctl ladder: 0, or -1 with a line on stderr. */
int ladder_command(const struct ladder_options *o);

#endif
