/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The verbs by what they are for; each part asks for all of its own. */
#ifndef SUPPORT_VERBS_H
#define SUPPORT_VERBS_H

#include <errno.h>
#include <string.h>

#include "ask.h"

#define SIZE 4096
#define HALF (SIZE / 2)

/* A device with two halves of memory, the first of which is sent from. */
struct stage {
	struct rig rig;
	uint8_t memory[SIZE] __attribute__((aligned(SIZE)));
	struct ibv_mr *mr;
};

/* The next completion, which is to be a success. */
struct ibv_wc verbs_done(struct stage *s);
/* Fills the first half, and asks whether the second is the same now. */
void verbs_fill(struct stage *s, uint8_t value);
bool verbs_arrived(const struct stage *s);
/* A UD QP of this device, ready to send. */
struct ibv_qp *verbs_ud(struct stage *s);

void verbs_ask_devices(void);
void verbs_ask_queries(struct stage *s);
void verbs_ask_words(void);
void verbs_ask_objects(struct stage *s);
void verbs_ask_events(struct stage *s);
void verbs_ask_datagrams(struct stage *s);
void verbs_ask_requests(struct stage *s);
void verbs_ask_extended_requests(struct stage *s);
void verbs_ask_extended_completions(struct stage *s);
void verbs_ask_what_rxe_has_not(struct stage *s);

#endif
