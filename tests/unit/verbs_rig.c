/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What stands around uverbs in its tests: memory, session, channels, kernel, and the core's host.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "null_host.h"
#include "verbs/kernel/umem.h"
#include "verbs_rig.h"

struct rig rig;

/* ---- the process's memory ---- */

static bool user_has(uint64_t addr, uint64_t len, bool write)
{
	uint64_t base = (uintptr_t)rig.user, size = write ? USER_READONLY : USER_SIZE;

	return addr >= base && addr - base <= size && len <= size - (addr - base);
}

int call_read(struct call *call, void *dst, uint64_t addr, size_t len)
{
	ck_assert_ptr_eq(call, &rig.call);
	if (rig.pending_at && ++rig.n_reads == rig.pending_at) {
		rig.pending_at = 0;
		return -EINPROGRESS;
	}
	if (!user_has(addr, len, false))
		return -EFAULT;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return 0;
}

/* At once: a test that wants to see that a failed command wrote nothing does not exist. */
int call_write(struct call *call, uint64_t addr, const void *src, size_t len)
{
	ck_assert_ptr_eq(call, &rig.call);
	if (!user_has(addr, len, true))
		return -EFAULT;
	memcpy((void *)(uintptr_t)addr, src, len);
	return 0;
}

uint64_t user_alloc(size_t len)
{
	uint64_t addr = (uintptr_t)rig.user + rig.brk;

	rig.brk += (len + 15) & ~15ull;
	if (rig.brk > USER_READONLY) {
		rig.brk = 0;
		return user_alloc(len);
	}
	memset(user_at(addr), 0, len);
	return addr;
}

uint64_t user_put(const void *data, size_t len)
{
	uint64_t addr = user_alloc(len);

	memcpy(user_at(addr), data, len);
	return addr;
}

void *user_at(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

struct umem *session_umem(struct session *s)
{
	return (struct umem *)s;
}

struct umem *umem_get(struct umem *u)
{
	((struct session *)umem_base(u))->umem_refs++;
	return u;
}

void umem_put(struct umem *u)
{
	if (u)
		((struct session *)umem_base(u))->umem_refs--;
}

struct umem *umem_base(struct umem *u)
{
	return (void *)u == &rig.paged ? session_umem(&rig.session) : u;
}

struct umem *umem_paged(struct umem *u)
{
	ck_assert_ptr_eq(u, session_umem(&rig.session));
	return umem_get(session_umem(&rig.paged));
}

int call_check(struct call *call, struct umem *u, uint64_t addr, uint64_t len, bool write)
{
	ck_assert_ptr_eq(call, &rig.call);
	ck_assert_ptr_eq(umem_base(u), session_umem(&rig.session));
	if (rig.check_pending) {
		rig.check_pending = false;
		return -EINPROGRESS;
	}
	return user_has(addr, len, write) ? 0 : -EFAULT;
}

bool session_is_root(const struct session *s)
{
	return s->root;
}

const char *session_name(const struct session *s)
{
	(void)s;
	return "test[1]";
}

/* ---- the context, but for its handles and rings ---- */

struct uobjects *context_uobjects(struct context *c)
{
	return &c->uobjects;
}

struct rnic_doorbell *context_doorbell(struct context *c)
{
	return c->doorbell;
}

struct kdevice *context_device(struct context *c)
{
	return c->dev;
}

void **context_uverbs(struct context *c)
{
	return &c->uverbs;
}

void kernel_log(struct kernel *k, const char *fmt, ...)
{
	va_list ap;

	(void)k;
	va_start(ap, fmt);
	vsnprintf(rig.log, sizeof(rig.log), fmt, ap);
	va_end(ap);
	rig.n_logs++;
}

/* ---- channels ---- */

int channel_create(struct context *c, uint32_t record_size, struct channel **out, int *client_fd)
{
	struct channel *ch = calloc(1, sizeof(*ch));

	(void)c;
	ck_assert_ptr_nonnull(ch);
	ch->record_size = record_size;
	ch->refs = 1;
	ch->id = ++rig.next_channel;
	ch->next = rig.channels;
	rig.channels = ch;
	rig.n_channels++;
	*out = ch;
	*client_fd = 1000 + (int)ch->id;
	return 0;
}

struct channel *channel_get(struct channel *ch)
{
	ch->refs++;
	return ch;
}

void channel_put(struct channel *ch)
{
	if (!ch || --ch->refs)
		return;
	for (struct channel **p = &rig.channels; *p; p = &(*p)->next)
		if (*p == ch) {
			*p = ch->next;
			break;
		}
	rig.n_channels--;
	free(ch);
}

void channel_finish(struct channel *ch)
{
	ch->finished = true;
}

uint64_t channel_id(const struct channel *ch)
{
	return ch->id;
}

uint32_t channel_record_size(const struct channel *ch)
{
	return ch->record_size;
}

bool channel_client_gone(const struct channel *ch)
{
	return ch->client_gone;
}

int channel_post(struct channel *ch, const void *record, const void *owner)
{
	ck_assert_uint_lt(ch->n_records, RECORDS_MAX);
	memcpy(ch->record[ch->n_records].word, record, ch->record_size);
	ch->record[ch->n_records++].owner = owner;
	return 0;
}

uint32_t channel_forget(struct channel *ch, const void *owner)
{
	uint32_t read = 0, kept = ch->n_read;

	for (uint32_t i = 0; i < ch->n_read; i++)
		read += ch->record[i].owner == owner;
	for (uint32_t i = ch->n_read; i < ch->n_records; i++)
		if (ch->record[i].owner != owner)
			ch->record[kept++] = ch->record[i];
	ch->n_records = kept;
	return read;
}

/* Descriptor numbers of the process are 1000 and the channel's id. */
struct channel *channel_of_fd(int32_t fd)
{
	struct channel *ch = rig.channels;

	while (ch && 1000 + (int32_t)ch->id != fd)
		ch = ch->next;
	return ch;
}

int call_channel(struct call *call, int32_t fd, struct channel **ch)
{
	(void)call;
	*ch = channel_of_fd(fd);
	return *ch ? 0 : -EBADF;
}

/* As librnic: the number goes where the answer says. */
int call_pass_fd(struct call *call, int fd, const struct rnic_ctl_fd *info)
{
	int64_t number = fd;

	ck_assert(info->width == 4 || info->width == 8);
	ck_assert(user_has(info->where, info->width, true));
	memcpy(user_at(info->where), &number, info->width);
	call->n_fds++;
	return 0;
}

/* ---- the core's host ---- */

static void cq_notify(void *host, struct rnic_cq *cq)
{
	(void)host;
	uverbs_cq_notify(cq);
}

static void async_event(void *host, const struct rnic_async *event)
{
	(void)host;
	uverbs_async_event(event);
}

static void log_line(void *host, const char *line)
{
	(void)host;
	kernel_log(NULL, "%s", line);
}

static const struct rnic_ops ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = null_tx_send,
	.timer_set = null_timer_set,
	.mem_read = null_mem_access,
	.mem_write = null_mem_access,
	.mem_atomic = null_mem_atomic,
	.cq_notify = cq_notify,
	.async_event = async_event,
	.random = null_random,
	.log = log_line,
};

/* ---- beginning and end ---- */

void rig_start(void)
{
	rig_start_with(&ops);
}

void rig_start_with(const struct rnic_ops *core_ops)
{
	static const uint8_t guid[8] = {2, 0, 0, 0xff, 0xfe, 0, 0, 1};
	static const uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
	struct rnic_device_config cfg = {
		.ops = core_ops, .active_mtu = RNIC_MTU_1024, .name = "rxe0"};
	void *p;

	memset(&rig, 0, sizeof(rig));
	p = mmap(NULL, USER_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	rig.user = p;
	rig.dev.rnic = rnic_device_create(&cfg);
	ck_assert_ptr_nonnull(rig.dev.rnic);
	rnic_gid_set(rig.dev.rnic, 1, gid, 7);
	rig.dev.num_comp_vectors = 2;
	memcpy(rig.dev.guid, guid, sizeof(guid));
	rig.context.dev = &rig.dev;
	rig.context.fd = memfd_create("verbs-test", MFD_CLOEXEC);
	ck_assert_int_ge(rig.context.fd, 0);
	ck_assert_int_eq(ftruncate(rig.context.fd, (off_t)RNIC_DB_FILE_SIZE), 0);
	p = mmap(NULL, RNIC_DB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, rig.context.fd, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	rig.context.doorbell = p;
	rig.call.session = &rig.session;
}

void rig_start_context(void)
{
	rig_start();
	rig_get_context();
}

void rig_get_context(void)
{
	struct ib_uverbs_get_context req = {0};
	struct ib_uverbs_get_context_resp resp;

	ck_assert_int_eq(
		do_write(IB_USER_VERBS_CMD_GET_CONTEXT, &req, sizeof(req), &resp, sizeof(resp)),
		16);
}

void rig_stop(void)
{
	struct rnic_counts n;

	uverbs_cleanup(&rig.context);
	ck_assert_ptr_null(uobject_next(&rig.context, UOBJ_PD, 0));
	rnic_device_counts(rig.dev.rnic, &n);
	ck_assert_uint_eq(n.pd + n.mr + n.cq + n.srq + n.qp + n.ah, 0);
	ck_assert_uint_eq(rig.n_channels, 0);
	ck_assert_uint_eq(rig.session.umem_refs, 0);
	ck_assert_uint_eq(rig.context.ring_bytes, 0);
	rnic_device_destroy(rig.dev.rnic);
	munmap(rig.context.doorbell, RNIC_DB_SIZE);
	munmap(rig.user, USER_SIZE);
	close(rig.context.fd);
	free(rig.context.uobjects.slot);
}

void *object_of(enum uobject_kind kind, uint32_t handle)
{
	struct uobject *u = uobject_get(&rig.context, kind, handle);

	ck_assert_ptr_nonnull(u);
	return u->object;
}
