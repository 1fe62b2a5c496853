/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * For libFuzzer: commands of rdma_cm, nearly right, by tests/abi's liar, on two event channels
 * whose IDs listen, connect to one another and move. Time is the input's; packets are lost and
 * changed as it says; channels are closed, addresses and the device go. What a channel's socket has
 * of records is what the commands leave in it.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bth/packet.h"
#include "lie_feed.h"
#include "rnic/device.h"
#include "tests/unit/null_host.h"
#include "verbs/kernel/passed.h"
#include "verbs/kernel/ucma_priv.h"
#include "verbs/kernel/umem_priv.h"

#define COMMANDS_MAX 120
#define FILES 2
#define FD_BASE 100 /* the process's numbers of their descriptors */
#define ARENA 16384
#define AIR_MAX 32
#define PACKET_MAX 512

#define MUST_BE(what) ((what) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct packet {
	uint32_t len;
	uint8_t sgid[16], dgid[16];
	uint8_t data[PACKET_MAX];
};

static struct {
	struct kernel kernel;
	struct kdevice dev;
	struct ucma_file *file[FILES];
	int fd[FILES];
	struct call call;
	uint64_t now, timer;
	struct packet air[AIR_MAX];
	uint32_t n_air;
	bool privileged;
} rig;
static _Alignas(8) uint8_t memory[2 * ARENA]; /* the second half is not the process's */

static const uint8_t own_gid[16] = {[10] = 0xff, 0xff, 127, [15] = 1};

/* ---- the daemon around it ---- */

uint64_t umem_clock(void)
{
	return rig.now;
}

/* By the linker's --wrap: no chance but the input's. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	(void)flags;
	memset(buf, 0x5a, len);
	return (ssize_t)len;
}

static bool has(uint64_t addr, uint64_t len)
{
	uint64_t base = (uintptr_t)memory;

	return addr >= base && addr - base <= ARENA && len <= ARENA - (addr - base);
}

int call_read(struct call *call, void *dst, uint64_t addr, size_t len)
{
	(void)call;
	if (!has(addr, len))
		return -EFAULT;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return 0;
}

int call_write(struct call *call, uint64_t addr, const void *src, size_t len)
{
	(void)call;
	if (!has(addr, len))
		return -EFAULT;
	memcpy((void *)(uintptr_t)addr, src, len);
	return 0;
}

int call_ucma(struct call *call, int32_t fd, struct ucma_file **file)
{
	uint32_t i = (uint32_t)fd - FD_BASE;

	(void)call;
	if (fd < 0)
		return -EBADF;
	*file = i < FILES ? rig.file[i] : NULL;
	return *file ? 0 : -EINVAL;
}

bool session_has(const struct session *s, unsigned int capability)
{
	(void)s;
	(void)capability;
	return rig.privileged;
}

void kernel_log(struct kernel *k, const char *fmt, ...)
{
	(void)k;
	(void)fmt;
}

/* Nobody sends descriptors to a channel here. */
void passed_socket_close(struct kernel *k, uid_t uid, int fd)
{
	(void)k;
	(void)uid;
	close(fd);
}

static int route(void *ctx, const uint8_t to[16], uint32_t ifindex, uint8_t from[16])
{
	(void)ctx;
	(void)ifindex;
	memcpy(from, own_gid, 16);
	return to[15] % 4 == 3 ? -ENETUNREACH : 0;
}

/* ---- packets and time ---- */

static void tx_send(void *host, const struct rnic_tx *tx)
{
	struct packet *p = &rig.air[rig.n_air];

	(void)host;
	MUST_BE(tx->len <= PACKET_MAX && tx->len > BTH_ICRC_LEN);
	if (rig.n_air == AIR_MAX)
		return;
	rig.n_air++;
	p->len = tx->len - BTH_ICRC_LEN;
	memcpy(p->data, tx->data, p->len);
	memcpy(p->sgid, tx->av->sgid, 16);
	memcpy(p->dgid, tx->av->dgid, 16);
}

static void timer_set(void *host, uint64_t deadline)
{
	(void)host;
	rig.timer = deadline;
}

static const struct rnic_ops ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = tx_send,
	.timer_set = timer_set,
	.async_event = null_async_event,
	.random = null_random,
	.log = null_log,
};

/* What is in the air arrives, or is lost, or comes twice, or changed. */
static void air_arrives(uint8_t how)
{
	for (uint32_t n = 0; rig.n_air && n < AIR_MAX; n++) {
		struct packet p = rig.air[0];
		struct rnic_rx rx = {.data = p.data, .len = p.len, .hop_limit = 64};

		memmove(&rig.air[0], &rig.air[1], --rig.n_air * sizeof(p));
		memcpy(rx.sgid, p.sgid, 16);
		memcpy(rx.dgid, p.dgid, 16);
		if (how % 16 == 15)
			continue;
		if (how % 16 == 14)
			p.data[feed_u16(&lie.feed) % p.len] = feed_u8(&lie.feed);
		for (int i = how % 16 == 13 ? 2 : 1; i && memcmp(p.dgid, own_gid, 16) == 0; i--)
			rnic_rx(rig.dev.rnic, rig.now, &rx, 1);
	}
}

static void time_goes(void)
{
	uint64_t until = rig.now + (1ull << liar_rnd(40));

	for (int i = 0; i < 32 && rig.timer <= until; i++) {
		if (rig.now < rig.timer)
			rig.now = rig.timer;
		rig.timer = UINT64_MAX;
		rnic_timer_fired(rig.dev.rnic, rig.now);
	}
	rig.now = until;
}

/* ---- event channels ---- */

static void file_open(int i)
{
	const struct ucma_opener who = {.session = 1 + (uint64_t)i, .uid = 1000, .pid = 7};

	if (!rig.file[i])
		MUST_BE(ucma_open(&rig.kernel, &who, &rig.file[i], &rig.fd[i]) == 0);
}

static void file_close(int i)
{
	if (!rig.file[i])
		return;
	close(rig.fd[i]);
	ev_run(rig.kernel.cfg.loop, EVRUN_NOWAIT);
	rig.file[i] = NULL;
	MUST_BE(!rig.kernel.ucma->files || !rig.kernel.ucma->files->next);
}

/* As librnic.so, which finds that many there. */
static void records_take(uint32_t n, int fd)
{
	char record;

	for (; n; n--)
		MUST_BE(recv(fd, &record, 1, MSG_DONTWAIT) == 1);
}

/* A channel is readable as long as an event waits, and no longer. */
static void records_are_the_events(int i)
{
	char record;
	uint32_t n = 0;

	if (!rig.file[i])
		return;
	while (recv(rig.fd[i], &record, 1, MSG_DONTWAIT) == 1)
		n++;
	MUST_BE(n == rig.file[i]->n_events - rig.file[i]->owed);
	rig.file[i]->owed += n; /* as if they had not been sent yet */
}

/* ---- what the liar asks ---- */

int64_t liar_write(int fd, const void *data, size_t len)
{
	struct rnic_ctl_fd *info = &rig.call.fd_info[0];
	int64_t rc;

	memcpy(memory, data, len);
	memset(info, 0, sizeof(*info));
	rc = ucma_write(&rig.call, rig.file[fd], (uintptr_t)memory, len);
	MUST_BE(rc < 0 || rc == (int64_t)len);
	if (info->kind == RNIC_FD_UCMA) /* also of a command that has failed */
		records_take((uint32_t)info->where,
			     rig.fd[info->rdev ? (int)info->rdev - 1 - FD_BASE : fd]);
	return rc;
}

static bool handle_choose(uint8_t kind, uint32_t choice, uint32_t *handle)
{
	struct cma_id *id;

	(void)kind;
	if (!rig.file[choice % FILES])
		return false;
	id = rig.file[choice % FILES]->ids;
	for (uint32_t n = choice / FILES % 8; id && id->next && n; n--)
		id = id->next;
	*handle = id ? id->number : 0;
	return id;
}

static bool fd_choose(uint32_t choice, int32_t *fd)
{
	*fd = FD_BASE + (int32_t)(choice % (FILES + 1));
	return true;
}

/* ---- what befalls it ---- */

static void gid_changes(void)
{
	static const uint8_t none[16];
	bool there = rnic_gid_get(rig.dev.rnic, 0) != NULL;

	rnic_gid_set(rig.dev.rnic, 0, there ? none : own_gid, 1);
	ucma_device_gids(&rig.dev);
}

static void something_happens(void)
{
	uint32_t what = liar_rnd(16);
	int i = (int)liar_rnd(FILES);

	if (what < 8)
		time_goes();
	else if (what < 10)
		file_close(i);
	else if (what == 10)
		gid_changes();
	else if (what == 11)
		ucma_device_del(&rig.dev);
	else if (what == 12)
		rig.privileged = !rig.privileged;
	else if (what == 13)
		rig.dev.is_localhost = !rig.dev.is_localhost;
	else
		records_are_the_events(i);
}

/* ---- what is there at the beginning ---- */

/* One command whose response, if it has one, is a number. */
static uint32_t command(int file, uint32_t cmd, const void *body, uint16_t len)
{
	uint8_t buf[sizeof(struct rdma_ucm_cmd_hdr) + 512];
	struct rdma_ucm_cmd_hdr hdr = {cmd, len, sizeof(struct rdma_ucm_event_resp)};
	uint32_t number;

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), body, len);
	MUST_BE(liar_write(file, buf, sizeof(hdr) + len) > 0);
	memcpy(&number, memory + ARENA / 2, sizeof(number));
	return number;
}

static uint32_t id_begin(int file, uint16_t ps, uint8_t type)
{
	struct rdma_ucm_create_id req = {
		.uid = 1, .response = (uintptr_t)memory + ARENA / 2, .ps = ps, .qp_type = type};

	return command(file, RDMA_USER_CM_CMD_CREATE_ID, &req, sizeof(req));
}

static struct sockaddr_in here(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void listener_begin(int file, uint16_t ps, uint8_t type, uint16_t port)
{
	struct rdma_ucm_bind bind = {.id = id_begin(file, ps, type),
				     .addr_size = sizeof(struct sockaddr_in)};
	struct rdma_ucm_listen listen = {.id = bind.id, .backlog = 4};
	struct sockaddr_in at = here(port);

	memcpy(&bind.addr, &at, sizeof(at));
	command(file, RDMA_USER_CM_CMD_BIND, &bind, sizeof(bind));
	command(file, RDMA_USER_CM_CMD_LISTEN, &listen, sizeof(listen));
}

static void event_fetch(int file)
{
	struct rdma_ucm_get_event req = {.response = (uintptr_t)memory + ARENA / 2};

	command(file, RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req));
}

static void asker_begin(int file, uint16_t ps, uint8_t type, uint16_t port)
{
	struct rdma_ucm_resolve_addr addr = {.id = id_begin(file, ps, type),
					     .dst_size = sizeof(struct sockaddr_in)};
	struct rdma_ucm_resolve_route way = {.id = addr.id};
	struct rdma_ucm_connect con = {.id = addr.id,
				       .conn_param = {.qp_num = 0x100 + addr.id, .valid = 1}};
	struct sockaddr_in to = here(port);

	memcpy(&addr.dst_addr, &to, sizeof(to));
	command(file, RDMA_USER_CM_CMD_RESOLVE_ADDR, &addr, sizeof(addr));
	event_fetch(file);
	command(file, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &way, sizeof(way));
	event_fetch(file);
	command(file, RDMA_USER_CM_CMD_CONNECT, &con, sizeof(con));
	air_arrives(0);
}

/* Listeners, an ID whose request waits to be fetched, one whose request waits for an answer, and a
 * connection; as much as the input wants. */
static void ids_begin(uint8_t how)
{
	struct rdma_ucm_accept accept = {.conn_param = {.qp_num = 0x55, .valid = 1}};

	if (how & 1)
		listener_begin(0, RDMA_PS_UDP, 4, 7001);
	if (!(how & 2))
		return;
	listener_begin(0, RDMA_PS_TCP, 2, 7000);
	asker_begin(1, RDMA_PS_TCP, 2, 7000);
	if (!(how & 4))
		return;
	event_fetch(0);
	accept.id = rig.file[0]->ids->number; /* the newest: that of the request */
	command(0, RDMA_USER_CM_CMD_ACCEPT, &accept, sizeof(accept));
	air_arrives(0);
	if (how & 8)
		asker_begin(1, RDMA_PS_TCP, 2, 7000);
}

static void begin(void)
{
	struct rnic_device_config cfg = {.ops = &ops, .active_mtu = RNIC_MTU_1024, .name = "rxe0"};
	struct ev_loop *loop = rig.kernel.cfg.loop;

	memset(&rig, 0, sizeof(rig));
	rig.now = 1;
	rig.timer = UINT64_MAX;
	rig.kernel.cfg.loop = loop ? loop : ev_loop_new(0);
	rig.kernel.cfg.route = route;
	rig.kernel.owners.files_max = 100;
	rig.kernel.devices = &rig.dev;
	rig.dev.kernel = &rig.kernel;
	rig.dev.rnic = rnic_device_create(&cfg);
	MUST_BE(rig.dev.rnic && ucma_create(&rig.kernel) == 0);
	strcpy(rig.dev.name, "rxe0");
	rnic_gid_set(rig.dev.rnic, 0, own_gid, 1);
	MUST_BE(ucma_device_add(&rig.dev) == 0);
}

static void end(void)
{
	struct rnic_counts n;

	for (int i = 0; i < FILES; i++) {
		records_are_the_events(i);
		file_close(i);
	}
	MUST_BE(!rig.kernel.ucma->files && !rig.kernel.owners.head);
	for (uint32_t i = 0; i < CMA_PORT_PLACES; i++)
		MUST_BE(!rig.kernel.ucma->ports[i]);
	ucma_destroy(&rig.kernel);
	rnic_device_counts(rig.dev.rnic, &n);
	MUST_BE(n.pd + n.mr + n.cq + n.srq + n.qp + n.ah == 0);
	rnic_device_destroy(rig.dev.rnic);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin();
	lie = (struct lie_feed){.feed = {data, size},
				.arena = memory,
				.size = ARENA,
				.handle = handle_choose,
				.fd = fd_choose};
	for (int k = 0; k < FILES; k++)
		file_open(k);
	ids_begin(feed_u8(&lie.feed));
	for (uint32_t i = 0; i < COMMANDS_MAX && lie.feed.left; i++) {
		uint8_t how = feed_u8(&lie.feed);

		for (int k = 0; k < FILES; k++)
			file_open(k);
		if (how >= 208)
			something_happens();
		else
			liar_ucma(how / 16 % FILES);
		air_arrives(how);
	}
	end();
	return 0;
}
