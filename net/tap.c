/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets for recorders, with what is to be said of them. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bth/opcode.h"
#include "net/recorder.h"
#include "net/tap.h"

enum { COMMENT_MAX = 256 };

static uint64_t time_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void comment_add(char *comment, const char *words)
{
	size_t len = strlen(comment);

	snprintf(comment + len, COMMENT_MAX - len, "%s%s", len ? ", " : "", words);
}

static void comment_make(const struct capframe *frame, const struct tap_note *note, char *comment)
{
	comment[0] = '\0';
	if (frame->len && frame->data[0] == BTH_OPCODE_CNP)
		comment_add(comment, "CNP");
	if (note->again)
		comment_add(comment, "retransmission");
	if (note->fate && *note->fate)
		comment_add(comment, note->fate);
}

void tap_show(const struct tap_list *list, struct capframe *frame, const struct tap_note *note)
{
	uint8_t head[CAPFRAME_HEAD_MAX];
	char comment[COMMENT_MAX];
	struct capfile_packet p = {
		.time = time_now(),
		.out = frame->out,
		.multicast = capframe_is_multicast(frame),
		.head = head,
		.data = frame->data,
		.data_len = frame->len,
		.comment = comment,
	};

	comment_make(frame, note, comment);
	for (uint32_t i = 0; i < list->n; i++) {
		p.interface = list->taps[i].interface;
		frame->ifindex = list->taps[i].ifindex;
		p.head_len = capframe_head(frame, head);
		net_recorder_packet(list->taps[i].recorder, &p);
	}
}
