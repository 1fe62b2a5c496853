/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory regions and the check of every key that a request or a packet names. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/device_priv.h"

static int attr_check(struct rnic_device *dev, const struct rnic_mr_attr *attr)
{
	uint32_t remote_change = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC;

	if ((attr->access & remote_change) && !(attr->access & RNIC_ACCESS_LOCAL_WRITE)) {
		dev_log(dev, "MR: REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE");
		return -EINVAL;
	}
	if (attr->start + attr->length < attr->start || attr->iova + attr->length < attr->iova) {
		dev_log(dev,
			"MR: %" PRIu64 " bytes at 0x%" PRIx64 " (iova 0x%" PRIx64 ") wrap around",
			attr->length, attr->start, attr->iova);
		return -EINVAL;
	}
	return 0;
}

int rnic_mr_create(struct rnic_pd *pd, const struct rnic_mr_attr *attr, struct rnic_mr **out)
{
	struct rnic_device *dev = pd->dev;
	struct rnic_mr *mr;
	int64_t index;
	int ret = attr_check(dev, attr);

	if (ret < 0)
		return ret;
	if (dev->mrs.used >= dev->limits.max_mr) {
		dev_log(dev, "MR: all %" PRIu32 " are in use", dev->limits.max_mr);
		return -ENOMEM;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	index = table_add(&dev->mrs, mr);
	if (index < 0) {
		free(mr);
		return (int)index;
	}
	mr->pd = pd;
	mr->attr = *attr;
	mr->key = (uint32_t)index << 8 | dev->mr_variant++;
	pd->users++;
	*out = mr;
	return 0;
}

static int bound_check(const struct rnic_mr *mr)
{
	if (!mr->n_mw)
		return 0;
	dev_log(mr->pd->dev, "MR 0x%" PRIx32 ": %" PRIu32 " windows are bound to it", mr->key,
		mr->n_mw);
	return -EINVAL;
}

int rnic_mr_modify(struct rnic_mr *mr, struct rnic_pd *pd, const struct rnic_mr_attr *attr)
{
	int ret = bound_check(mr);

	if (ret == 0)
		ret = attr_check(pd->dev, attr);
	if (ret < 0)
		return ret;
	mr->pd->users--;
	pd->users++;
	mr->pd = pd;
	mr->attr = *attr;
	return 0;
}

int rnic_mr_destroy(struct rnic_mr *mr)
{
	int ret = bound_check(mr);

	if (ret < 0)
		return ret;
	table_remove(&mr->pd->dev->mrs, mr->key >> 8);
	mr->pd->users--;
	free(mr);
	return 0;
}

const struct rnic_mr *rnic_mr_find(const struct rnic_pd *pd, uint32_t key)
{
	const struct rnic_mr *mr = table_get(&pd->dev->mrs, key >> 8);

	return mr && mr->key == key && mr->pd == pd ? mr : NULL;
}

uint32_t rnic_mr_key(const struct rnic_mr *mr)
{
	return mr->key;
}

const struct rnic_mr_attr *rnic_mr_attr_get(const struct rnic_mr *mr)
{
	return &mr->attr;
}

struct rnic_pd *rnic_mr_pd(const struct rnic_mr *mr)
{
	return mr->pd;
}

enum mr_verdict mr_check(struct rnic_pd *pd, uint32_t key, uint64_t addr, uint64_t len,
			 uint32_t access, struct rnic_mem **mem, uint64_t *vaddr)
{
	const struct rnic_mr *mr;

	*mem = NULL;
	*vaddr = 0;
	if (len == 0)
		return MR_OK;
	mr = table_get(&pd->dev->mrs, key >> 8);
	if (!mr || mr->key != key || mr->pd != pd)
		return MR_BAD_KEY;
	if (access & ~mr->attr.access)
		return MR_BAD_ACCESS;
	if (!range_holds(mr->attr.iova, mr->attr.length, addr, len))
		return MR_BAD_RANGE;
	mr_place(mr, addr, mem, vaddr);
	return MR_OK;
}
