/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* IDs of rdma_cm: made, found by their numbers, ended. */
#include "config.h"

#include <errno.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "verbs/kernel/ucma_priv.h"
#include "verbs/kernel/umem_priv.h"

#define PSN_MASK 0xffffff

static void file_enter(struct cma_id *id, struct ucma_file *file)
{
	id->file = file;
	id->next = file->ids;
	id->link = &file->ids;
	if (id->next)
		id->next->link = &id->next;
	file->ids = id;
}

static void file_leave(struct cma_id *id)
{
	*id->link = id->next;
	if (id->next)
		id->next->link = id->link;
}

int cma_id_create(struct ucma_file *file, uint16_t ps, uint8_t qp_type, uint64_t uid,
		  struct cma_id **out)
{
	struct cma_id *id;

	if (!owner_take(file->owner))
		return -ENOMEM;
	id = calloc(1, sizeof(*id));
	if (!id) {
		owner_give(file->owner);
		return -ENOMEM;
	}
	if (getrandom(&id->psn, sizeof(id->psn), 0) != sizeof(id->psn))
		id->psn = (uint32_t)umem_clock();
	id->psn &= PSN_MASK;
	id->ps = ps;
	id->qp_type = qp_type;
	id->uid = uid;
	file_enter(id, file);
	*out = id;
	return 0;
}

int cma_id_number(struct cma_id *id)
{
	int64_t n = table_add(&id->file->kernel->ucma->ids, id);

	if (n < 0)
		return (int)n;
	id->number = (uint32_t)n;
	return 0;
}

struct cma_id *cma_id_find(struct ucma_file *file, uint32_t number, int *rc)
{
	struct cma_id *id = table_get(&file->kernel->ucma->ids, number);

	*rc = !id ? -ENOENT : id->file != file ? -EINVAL : 0;
	return *rc ? NULL : id;
}

void cma_id_unnumber(struct cma_id *id)
{
	table_remove(&id->file->kernel->ucma->ids, id->number);
	id->number = 0;
}

void cma_id_refile(struct cma_id *id, struct ucma_file *to)
{
	owner_move(id->file->owner, to->owner);
	for (uint32_t n = cma_memberships(id); n; n--)
		owner_move(id->file->owner, to->owner);
	file_leave(id);
	file_enter(id, to);
}

uint32_t cma_id_move(struct cma_id *id, struct ucma_file *to)
{
	uint32_t records = ucma_events_move(id, to);

	cma_id_refile(id, to);
	return records;
}

void cma_id_destroy(struct cma_id *id)
{
	file_leave(id);
	owner_give(id->file->owner);
	/* Whatever comes from here on is for nobody. */
	ucma_events_forget(id->file, id, NULL);
	cma_leave_all(id);
	cma_port_put(id);
	if (id->cm)
		rnic_cm_destroy(id->cm, umem_clock());
	if (id->number)
		cma_id_unnumber(id);
	free(id);
}

int cma_option_set(struct cma_id *id, uint32_t name, const uint8_t *value, uint32_t len)
{
	int32_t flag;

	memcpy(&flag, value, sizeof(flag));
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		if (len != 1)
			return -EINVAL;
		id->tos_set = true;
		id->tos = value[0];
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		if (len != sizeof(flag))
			return -EINVAL;
		if (id->state != CMA_IDLE && !(flag == 0 || id->state == CMA_BOUND))
			return -EINVAL;
		id->reuseaddr = flag != 0;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		if (len != sizeof(flag) || (id->state != CMA_IDLE && id->state != CMA_BOUND))
			return -EINVAL;
		id->afonly = flag != 0;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (len != 1 || value[0] > 31)
			return -EINVAL;
		id->ack_timeout_set = true;
		id->ack_timeout = value[0];
		return 0;
	default:
		return -ENOSYS;
	}
}

int ucma_device_add(struct kdevice *dev)
{
	uint64_t guid;

	memcpy(&guid, dev->guid, sizeof(guid));
	return rnic_cm_start(dev->rnic, &cma_cm_host, dev, be64toh(guid));
}

static bool has_address(const struct kdevice *dev, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++) {
		const uint8_t *own = rnic_gid_get(dev->rnic, (uint16_t)i);

		if (own && !memcmp(own, gid, 16))
			return true;
	}
	return false;
}

static void address_check(struct cma_id *id)
{
	bool gone = !has_address(id->dev, id->av.sgid);

	if (gone && !id->addr_gone && !cma_id_deaf(id) && !ucma_events_full(id->file))
		ucma_event_add(ucma_event_new(id, CMA_EV_ADDR_CHANGE, 0));
	id->addr_gone = gone;
}

void ucma_device_gids(struct kdevice *dev)
{
	struct ucma *u = dev->kernel->ucma;

	for (struct ucma_file *f = u ? u->files : NULL; f; f = f->next)
		for (struct cma_id *id = f->ids; id; id = id->next)
			if (id->dev == dev)
				address_check(id);
}

void ucma_device_del(struct kdevice *dev)
{
	struct ucma *u = dev->kernel->ucma;

	for (struct ucma_file *f = u ? u->files : NULL; f; f = f->next)
		for (struct cma_id *id = f->ids; id; id = id->next)
			if (id->dev == dev)
				cma_removed(id);
}
