/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Late packets: a binary heap by the time when they are due. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "net/late.h"

void late_begin(struct late_queue *q, size_t head_size, size_t bytes_max)
{
	*q = (struct late_queue){.head_size = head_size, .bytes_max = bytes_max};
}

void late_end(struct late_queue *q)
{
	for (uint32_t i = 0; i < q->n; i++)
		free(q->heap[i]);
	free(q->heap);
	q->heap = NULL;
	q->n = q->room = q->n_overtaken = 0;
	q->bytes = 0;
}

static bool before(const struct late_item *a, const struct late_item *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void sift_up(struct late_queue *q, uint32_t i)
{
	struct late_item *item = q->heap[i];

	while (i > 0 && before(item, q->heap[(i - 1) / 2])) {
		q->heap[i] = q->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap[i] = item;
}

static void sift_down(struct late_queue *q, uint32_t i)
{
	struct late_item *item = q->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < q->n && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (child >= q->n || !before(q->heap[child], item))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = item;
}

static size_t aligned(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

static size_t item_size(const struct late_queue *q, uint32_t len)
{
	return aligned(sizeof(struct late_item)) + aligned(q->head_size) + len;
}

static bool heap_grow(struct late_queue *q)
{
	uint32_t room = q->room ? q->room * 2 : 64;
	struct late_item **heap;

	if (q->n < q->room)
		return true;
	heap = realloc(q->heap, room * sizeof(*heap));
	if (!heap)
		return false;
	q->heap = heap;
	q->room = room;
	return true;
}

bool late_put(struct late_queue *q, const struct late_item *like, const void *head,
	      const uint8_t *data, uint32_t len)
{
	size_t size = item_size(q, len);
	struct late_item *item;
	uint8_t *room;

	if (q->bytes + size > q->bytes_max || !heap_grow(q))
		return false;
	item = malloc(size);
	if (!item)
		return false;
	room = (uint8_t *)item + aligned(sizeof(*item));
	*item = *like;
	item->order = q->order++;
	item->len = len;
	item->head = room;
	item->data = room + aligned(q->head_size);
	memcpy(item->head, head, q->head_size);
	memcpy(item->data, data, len);
	q->bytes += size;
	q->n_overtaken += item->overtake > 0;
	q->heap[q->n++] = item;
	sift_up(q, q->n - 1);
	return true;
}

void late_passed(struct late_queue *q, uint32_t dqpn)
{
	if (!q->n_overtaken)
		return;
	/* Sifting up moves only what was looked at before. */
	for (uint32_t i = 0; i < q->n; i++) {
		struct late_item *item = q->heap[i];

		if (item->dqpn != dqpn || !item->overtake || --item->overtake)
			continue;
		q->n_overtaken--;
		item->due = 0;
		sift_up(q, i);
	}
}

uint64_t late_due(const struct late_queue *q)
{
	return q->n ? q->heap[0]->due : UINT64_MAX;
}

struct late_item *late_take(struct late_queue *q, uint64_t now)
{
	struct late_item *item;

	if (late_due(q) > now || !q->n)
		return NULL;
	item = q->heap[0];
	q->heap[0] = q->heap[--q->n];
	if (q->n)
		sift_down(q, 0);
	q->bytes -= item_size(q, item->len);
	q->n_overtaken -= item->overtake > 0;
	return item;
}

void late_forget(struct late_queue *q, bool (*gone)(const void *head, const void *arg),
		 const void *arg)
{
	uint32_t n = q->n;

	q->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct late_item *item = q->heap[i];

		if (gone(item->head, arg)) {
			q->bytes -= item_size(q, item->len);
			q->n_overtaken -= item->overtake > 0;
			free(item);
			continue;
		}
		q->heap[q->n++] = item;
		sift_up(q, q->n - 1);
	}
}
