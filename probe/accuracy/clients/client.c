/* A client as lean as one can be: one thread, epoll, no JSON. It asks for
 * streams of tokens and notes when each of them was read.
 *
 * client HOST PORT MODEL STREAMS TOKENS STAGGER_US kernel|user
 *
 * A HOST that begins with a slash is the path of a unix socket.
 *
 * Output, one line a token: stream, index, ns of CLOCK_MONOTONIC, and how long
 * the bytes had been there (kernel stamps only). A line "sent STREAM NS" tells
 * when a request left, and the last line, "cpu NS", what reading has cost. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int64_t now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct stream {
	int fd, n, done, newline;
	int64_t sent, *at, *late;
};

static void die(const char *what) {
	perror(what);
	exit(1);
}

static int dial(const char *host, int port, int kernel) {
	if (host[0] == '/') {
		struct sockaddr_un u = {.sun_family = AF_UNIX};
		int un = socket(AF_UNIX, SOCK_STREAM, 0);
		strncpy(u.sun_path, host, sizeof u.sun_path - 1);
		if (un < 0 || connect(un, (struct sockaddr *)&u, sizeof u))
			die("connect");
		fcntl(un, F_SETFL, O_NONBLOCK);
		return un;
	}
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	if (fd < 0 || inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die("address");
	if (connect(fd, (struct sockaddr *)&a, sizeof a))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (kernel && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one))
		die("SO_TIMESTAMPNS");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Events end with an empty line, and nothing else in the stream has one. */
static void take(struct stream *s, const char *b, ssize_t n, int64_t at, int64_t late, int tokens) {
	for (ssize_t i = 0; i < n; i++) {
		if (b[i] == '\n') {
			if (s->newline && s->n < tokens) {
				s->at[s->n] = at;
				s->late[s->n++] = late;
			}
			s->newline = 1;
		} else {
			s->newline = 0;
		}
	}
}

int main(int argc, char **argv) {
	if (argc != 8) {
		fprintf(stderr, "usage: client HOST PORT MODEL STREAMS TOKENS STAGGER_US kernel|user\n");
		return 2;
	}
	int streams = atoi(argv[4]), tokens = atoi(argv[5]), stagger = atoi(argv[6]);
	int kernel = !strcmp(argv[7], "kernel"), ep = epoll_create1(0), left = streams, begun = 0;
	struct stream *all = calloc(streams, sizeof *all);
	static char buf[65536], req[1024], body[512];
	for (int i = 0; i < streams; i++) {
		all[i].fd = dial(argv[1], atoi(argv[2]), kernel);
		all[i].at = calloc(tokens, sizeof(int64_t));
		all[i].late = calloc(tokens, sizeof(int64_t));
		struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
		epoll_ctl(ep, EPOLL_CTL_ADD, all[i].fd, &e);
	}
	int64_t start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	while (left > 0) {
		while (begun < streams && now(CLOCK_MONOTONIC) >= start + (int64_t)begun * stagger * 1000) {
			int n = snprintf(body, sizeof body,
				"{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"tea\"}],\"stream\":true,\"max_tokens\":%d}", argv[3], tokens);
			n = snprintf(req, sizeof req,
				"POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
				"X-Request-Id: c-%d\r\nContent-Length: %d\r\n\r\n%s", argv[1][0] == '/' ? "localhost" : argv[1], begun, n, body);
			all[begun].sent = now(CLOCK_MONOTONIC);
			if (write(all[begun].fd, req, n) != n)
				die("write");
			begun++;
		}
		struct epoll_event ev[64];
		int k = epoll_wait(ep, ev, 64, begun < streams ? 1 : 1000);
		for (int j = 0; j < k; j++) {
			struct stream *s = &all[ev[j].data.u32];
			union { char b[256]; struct cmsghdr h; } oob;
			struct iovec iov = {buf, sizeof buf};
			struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = oob.b, .msg_controllen = sizeof oob.b};
			ssize_t n = kernel ? recvmsg(s->fd, &m, MSG_DONTWAIT) : read(s->fd, buf, sizeof buf);
			int64_t at = now(CLOCK_MONOTONIC), late = 0;
			if (n < 0 && (errno == EAGAIN || errno == EINTR))
				continue;
			if (n <= 0) {
				epoll_ctl(ep, EPOLL_CTL_DEL, s->fd, NULL);
				close(s->fd);
				left--;
				continue;
			}
			for (struct cmsghdr *c = kernel ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
				if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
					struct timespec t;
					memcpy(&t, CMSG_DATA(c), sizeof t);
					late = now(CLOCK_REALTIME) - ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
					if (late < 0)
						late = 0;
				}
			}
			take(s, buf, n, at - late, late, tokens);
		}
	}
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (int i = 0; i < streams; i++) {
		printf("sent %d %lld\n", i, (long long)all[i].sent);
		for (int j = 0; j < all[i].n; j++)
			printf("%d %d %lld %lld\n", i, j, (long long)all[i].at[j], (long long)all[i].late[j]);
	}
	printf("cpu %lld\n", (long long)cpu);
	return 0;
}
