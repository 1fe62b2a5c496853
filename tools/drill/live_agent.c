/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Starts an agent here, under librnic.so, or connects with one elsewhere; asks it. */
#include "config.h"

#include "live_agent.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 60000

struct live_agent {
	FILE *in, *out;
	pid_t pid; /* 0: not started here */
	char *line;
	size_t room;
};

static void say(const char *what)
{
	fprintf(stderr, "rnic-drill: %s\n", what);
}

void live_program_path(const char *name, const char *installed, char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		snprintf(path, size, "%.*s/%s", (int)(slash - self), self, name);
		if (access(path, X_OK) == 0)
			return;
	}
	snprintf(path, size, "%s/%s", installed, name);
}

static bool under_librnic(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "librnic.so");
}

/* Kernel devices may be meant too: then run rnic-drill --serve by hand. */
static void agent_exec(const char *how, const char *value, const char *device)
{
	char agent[PATH_MAX], run[PATH_MAX];
	const char *argv[8];
	int n = 0;

	live_program_path("rnic-drill-agent", DRILL_LIBEXECDIR, agent, sizeof(agent));
	live_program_path("rnic-run", DRILL_BINDIR, run, sizeof(run));
	if (!strcmp(how, "--fd") && !under_librnic())
		argv[n++] = run;
	argv[n++] = agent;
	argv[n++] = how;
	argv[n++] = value;
	if (device) {
		argv[n++] = "--device";
		argv[n++] = device;
	}
	argv[n] = NULL;
	execv(argv[0], (char *const *)(uintptr_t)argv);
	fprintf(stderr, "rnic-drill: %s: %s\n", argv[0], strerror(errno));
}

int live_agent_exec(const char *port, const char *device)
{
	agent_exec("--port", port, device);
	return 1;
}

static struct live_agent *agent_of(int fd, pid_t pid)
{
	struct live_agent *agent = calloc(1, sizeof(*agent));
	int copy = dup(fd);

	if (!agent || copy < 0)
		abort();
	agent->pid = pid;
	agent->in = fdopen(fd, "r");
	agent->out = fdopen(copy, "w");
	if (!agent->in || !agent->out)
		abort();
	return agent;
}

struct live_agent *live_agent_start(const char *device)
{
	char number[16];
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0) {
		say(strerror(errno));
		return NULL;
	}
	snprintf(number, sizeof(number), "%d", fds[1]);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		agent_exec("--fd", number, device);
		_exit(127);
	}
	close(fds[1]);
	if (pid < 0) {
		say(strerror(errno));
		close(fds[0]);
		return NULL;
	}
	return agent_of(fds[0], pid);
}

struct live_agent *live_agent_connect(const char *host_port)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list;
	const char *colon = strrchr(host_port, ':');
	char host[256];
	int fd, one = 1, err;

	if (!colon || (size_t)(colon - host_port) >= sizeof(host)) {
		say("--peer takes HOST:PORT");
		return NULL;
	}
	snprintf(host, sizeof(host), "%.*s", (int)(colon - host_port), host_port);
	err = getaddrinfo(host, colon + 1, &hints, &list);
	if (err) {
		fprintf(stderr, "rnic-drill: %s: %s\n", host_port, gai_strerror(err));
		return NULL;
	}
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, list->ai_addr, list->ai_addrlen) < 0) {
		fprintf(stderr, "rnic-drill: %s: %s\n", host_port, strerror(errno));
		if (fd >= 0)
			close(fd);
		freeaddrinfo(list);
		return NULL;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	freeaddrinfo(list);
	return agent_of(fd, 0);
}

void live_agent_end(struct live_agent *agent)
{
	if (!agent)
		return;
	fclose(agent->in);
	fclose(agent->out);
	if (agent->pid)
		waitpid(agent->pid, NULL, 0);
	free(agent->line);
	free(agent);
}

/* The next line, without its end; NULL: the agent is gone, or says nothing for too long. */
static char *answer(struct live_agent *agent)
{
	struct pollfd p = {.fd = fileno(agent->in), .events = POLLIN};

	if (poll(&p, 1, ANSWER_MS) != 1 || getline(&agent->line, &agent->room, agent->in) < 0)
		return NULL;
	agent->line[strcspn(agent->line, "\n")] = '\0';
	return agent->line;
}

bool live_agent_hello(struct live_agent *agent, char *gid, uint64_t *gid_index)
{
	const char *line = answer(agent);
	struct args a;
	bool ok;

	args_parse(&a, line ? line : "");
	ok = args_flag(&a, "hello");
	snprintf(gid, 48, "%s", args_str(&a, "gid", ""));
	*gid_index = args_num(&a, "gid_index", 0);
	args_free(&a);
	if (!ok)
		say("the agent did not come up");
	return ok;
}

int live_agent_ask(struct live_agent *agent, const char *request, struct args *reply)
{
	const char *line;
	int err;

	signal(SIGPIPE, SIG_IGN);
	fprintf(agent->out, "%s\n", request);
	fflush(agent->out);
	line = answer(agent);
	if (line && !strncmp(line, "ok ", 3)) {
		args_parse(reply, line + 3);
		return 0;
	}
	args_parse(reply, "");
	if (line && sscanf(line, "errno %d", &err) == 1)
		return err > 0 ? err : EINVAL;
	args_wrong(reply, "%s",
		   line ? line + (strncmp(line, "bad ", 4) ? 0 : 4) : "the agent is gone");
	return -1;
}
