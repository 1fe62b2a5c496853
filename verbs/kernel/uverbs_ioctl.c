/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* RDMA_VERBS_IOCTL: its header, and the call of the method that it names. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "verbs/kernel/uverbs.h"
#include "verbs/kernel/uverbs_attr.h"

#define LENGTH_MAX 4096

static bool destroys(const struct umethod *m)
{
	for (uint32_t i = 0; i < UATTRS_MAX; i++)
		if (m->attr[i].type == UATTR_DESTROY)
			return true;
	return false;
}

static int method_run(struct ucmd *cmd, const struct ib_uverbs_ioctl_hdr *hdr, uint64_t addr)
{
	const struct umethod *m;
	int rc;

	if (hdr->length > LENGTH_MAX ||
	    hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]))
		return -EINVAL;
	if (hdr->reserved1 || hdr->reserved2)
		return -EPROTONOSUPPORT;
	if (hdr->driver_id != RDMA_DRIVER_RXE)
		return -EINVAL;
	m = umethod_find(hdr->object_id, hdr->method_id);
	if (!m)
		return -EPROTONOSUPPORT;
	if (!cmd->dev && m->run != write_invoke && !destroys(m))
		return -EIO;
	rc = uattrs_parse(cmd, m, addr + sizeof(*hdr), hdr->num_attrs);
	if (!rc)
		rc = m->run(cmd);
	if (!rc && cmd->uhw_out.present)
		rc = uattr_mark_valid(cmd, &cmd->uhw_out);
	return rc;
}

int64_t uverbs_ioctl(struct call *call, struct context *c, uint32_t request, uint64_t addr)
{
	struct ib_uverbs_ioctl_hdr hdr;
	struct ucmd cmd;
	int rc;

	if (request != RDMA_VERBS_IOCTL)
		return -ENOTTY;
	ucmd_init(&cmd, call, c);
	rc = call_read(call, &hdr, addr, sizeof(hdr));
	if (rc)
		return rc;
	rc = method_run(&cmd, &hdr, addr);
	if (rc == -EPROTONOSUPPORT)
		ucmd_log(&cmd, "object %u, method %u with %u attributes is not supported",
			 hdr.object_id, hdr.method_id, hdr.num_attrs);
	return rc;
}
