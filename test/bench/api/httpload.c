/*
 * An HTTP client that costs less than what it measures: kept-alive connections, each with one request under way.
 * It never sleeps: waking it would be at the expense of the server, and the more so the slower the server is.
 *
 *   httpload PORT CALLERS COUNT STATUS < requests
 *
 * Standard input holds whole requests, each behind a line with its length in bytes; they are sent in turn. Answers must
 * have a Content-Length and the status STATUS. Prints one line of JSON; on failure {"error": "..."} and exit status 1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_BYTES = 8192, BODY_BYTES = 256 * 1024, MAX_EVENTS = 256, SILENCE_MS = 60000 };

struct request { char *text; size_t length; };

struct caller {
    int fd;
    double sent_at;
    char head[HEAD_BYTES + 1];
    size_t head_length;
    /* Bytes of the body still to come; -1 while the head is read. */
    long long left;
};

static struct request *requests;
static size_t request_count;
static long long begun, ended, count;
static double *times;
static int wanted_status;
static long long body_bytes;

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("{\"error\":\"");
    vprintf(format, arguments);
    printf("\"}\n");
    exit(1);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void read_requests(void) {
    size_t room = 0, length;
    while (scanf("%zu", &length) == 1) {
        getchar();
        if (request_count == room) requests = realloc(requests, (room = room * 2 + 64) * sizeof *requests);
        char *text = malloc(length);
        if (fread(text, 1, length, stdin) != length) fail("a request is cut short");
        requests[request_count++] = (struct request){ text, length };
    }
    if (request_count == 0) fail("no requests");
}

/* Requests are small: one that does not fit into the socket's buffer at once is a mistake of the caller. */
static void next_request(struct caller *caller) {
    if (begun == count) return;
    const struct request *request = &requests[begun++ % request_count];
    caller->head_length = 0;
    caller->left = -1;
    caller->sent_at = now_ms();
    if (send(caller->fd, request->text, request->length, MSG_NOSIGNAL) != (ssize_t)request->length)
        fail("send: %s", strerror(errno));
}

static void read_head(struct caller *caller) {
    ssize_t got = recv(caller->fd, caller->head + caller->head_length, HEAD_BYTES - caller->head_length, 0);
    if (got <= 0) fail("the server hung up");
    caller->head_length += got;
    caller->head[caller->head_length] = 0;
    char *end = strstr(caller->head, "\r\n\r\n");
    if (end == NULL) {
        if (caller->head_length == HEAD_BYTES) fail("the head of an answer is too long");
        return;
    }
    int status = atoi(caller->head + 9);
    if (status != wanted_status) fail("HTTP %d", status);
    char *length = strcasestr(caller->head, "\r\ncontent-length:");
    if (length == NULL || length > end) fail("an answer without a length");
    long long total = atoll(length + strlen("\r\ncontent-length:"));
    body_bytes += total;
    caller->left = total - (caller->head + caller->head_length - (end + 4));
}

static void read_answer(struct caller *caller) {
    static char body[BODY_BYTES];
    if (caller->left < 0) {
        read_head(caller);
    } else {
        ssize_t got = recv(caller->fd, body, sizeof body, 0);
        if (got <= 0) fail("the server hung up");
        caller->left -= got;
    }
    if (caller->left != 0) return;
    times[ended++] = now_ms() - caller->sent_at;
    next_request(caller);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 5) fail("usage: httpload PORT CALLERS COUNT STATUS");
    int callers = atoi(argv[2]);
    count = atoll(argv[3]);
    wanted_status = atoi(argv[4]);
    if (callers > count) callers = count;
    read_requests();
    times = calloc(count, sizeof *times);

    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct caller *all = calloc(callers, sizeof *all);
    int epoll = epoll_create1(0), one = 1;
    for (int i = 0; i < callers; i++) {
        all[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(all[i].fd, (struct sockaddr *)&address, sizeof address)) fail("connect: %s", strerror(errno));
        setsockopt(all[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &all[i] };
        epoll_ctl(epoll, EPOLL_CTL_ADD, all[i].fd, &event);
    }
    double started_at = now_ms(), last_at = started_at;
    for (int i = 0; i < callers; i++) next_request(&all[i]);
    while (ended < count) {
        struct epoll_event events[MAX_EVENTS];
        int ready = epoll_wait(epoll, events, MAX_EVENTS, 0);
        for (int i = 0; i < ready; i++) read_answer(events[i].data.ptr);
        if (ready > 0) last_at = now_ms();
        else if (now_ms() - last_at > SILENCE_MS) fail("no answer for a minute");
        else sched_yield();
    }
    double seconds = (now_ms() - started_at) / 1e3;
    qsort(times, count, sizeof *times, by_size);
    printf("{\"perSecond\":%.3f,\"p50Ms\":%.4f,\"p99Ms\":%.4f,\"maxMs\":%.4f,\"bytes\":%.0f}\n", count / seconds,
           times[count / 2], times[count * 99 / 100], times[count - 1], (double)body_bytes / count);
    return 0;
}
