// socksbench: a load generator for SOCKS5 servers on Linux. One thread a process, nothing allocated while it measures.
//
//   socksbench serve PORT         target: the first byte of a connection picks its work: S sink, R source, E echo;
//                                 UDP datagrams to the same port are echoed
//   socksbench tput  [options]    bytes through -c connections (-d up|down, -b bytes each, or until -w seconds are over,
//                                 -r bytes a second at most in all)
//   socksbench rate  [options]    -n times connect, log in, CONNECT, one byte echoed, close; -c at once
//   socksbench ping  [options]    -n round trips of -s bytes on one connection
//   socksbench udp   [options]    UDP ASSOCIATE, -n datagrams of -s bytes echoed, -c in flight
//   socksbench idle  [options]    holds -c connections open for -w seconds, and fails when one of them ends
//
// Options: -p proxy port (0: straight to the target), -t target port, -u user, -k password, -a accounts (rate: each connection logs in as
// one of at most 500 of so many users, whose names end with their number), -f N: connections come from 127.0.0.N. Results are one JSON line.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_FD (1 << 20)
#define BLOCK (1 << 18)
#define USERS 500 // that log in when there are more accounts: otherwise more accounts would mean more first logins
#define ROUNDS 4 // reads or writes before the next connection has its turn

static struct {
  int proxy, target, conns, count, size, down, accounts, from;
  double bytes, seconds, rate;
  const char *user, *password;
} opt = {1080, 7000, 1, 1000, 64, 0, 0, 0, 1e9, 0, 0, "user", "pass"};

static char block[BLOCK];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *what) {
  printf("{\"error\":\"%s: %s\"}\n", what, strerror(errno));
  exit(1);
}

static void set_nonblocking(int fd, int on) {
  int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

static void set_nodelay(int fd) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

static void watch(int epoll, int op, int fd, unsigned events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  epoll_ctl(epoll, op, fd, &event);
}

// ---- target ----------------------------------------------------------------------------------------------------

static void echo_datagrams(int fd) {
  struct sockaddr_in from;
  static char datagram[65536];
  for (int i = 0; i < 64; i++) {
    socklen_t length = sizeof from;
    ssize_t n = recvfrom(fd, datagram, sizeof datagram, 0, (void *)&from, &length);
    if (n < 0) return;
    sendto(fd, datagram, n, 0, (void *)&from, length);
  }
}

// Each returns 0 when the connection is over.
static int sink(int fd) {
  for (int i = 0; i < ROUNDS; i++) {
    ssize_t n = recv(fd, block, BLOCK, MSG_TRUNC); // TCP: taken away without a copy
    if (n == 0) return 0;
    if (n < 0) return errno == EAGAIN;
  }
  return 1;
}

static int source(int fd) {
  for (int i = 0; i < ROUNDS; i++) {
    ssize_t n = write(fd, block, BLOCK);
    if (n < 0) return errno == EAGAIN;
    if (n < BLOCK) return 1;
  }
  return 1;
}

static int echo(int fd) {
  char bytes[65536];
  ssize_t n = recv(fd, bytes, sizeof bytes, 0);
  if (n <= 0) return n < 0 && errno == EAGAIN;
  for (ssize_t done = 0; done < n;) {
    ssize_t written = write(fd, bytes + done, n - done);
    if (written > 0) done += written;
    else if (errno != EAGAIN) return 0;
  }
  return 1;
}

static void serve(int port) {
  static char work[MAX_FD];
  struct sockaddr_in address = loopback(port);
  struct epoll_event events[512];
  int one = 1, buffer = 4 << 20, epoll = epoll_create1(0);
  int tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  setsockopt(udp, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  if (bind(tcp, (void *)&address, sizeof address) || listen(tcp, 4096)) die("listen");
  socklen_t length = sizeof address;
  getsockname(tcp, (void *)&address, &length);
  if (bind(udp, (void *)&address, sizeof address)) die("bind");
  watch(epoll, EPOLL_CTL_ADD, tcp, EPOLLIN);
  watch(epoll, EPOLL_CTL_ADD, udp, EPOLLIN);
  printf("{\"port\":%d}\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int n = epoll_wait(epoll, events, 512, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd, alive = 1;
      if (fd == udp) {
        echo_datagrams(udp);
        continue;
      }
      if (fd == tcp) {
        for (int c; (c = accept4(tcp, 0, 0, SOCK_NONBLOCK)) >= 0;) {
          set_nodelay(c);
          work[c] = 0;
          watch(epoll, EPOLL_CTL_ADD, c, EPOLLIN | EPOLLRDHUP);
        }
        continue;
      }
      if (events[i].events & EPOLLIN) {
        if (!work[fd]) {
          alive = read(fd, &work[fd], 1) == 1;
          if (alive && work[fd] == 'R') watch(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
        }
        if (alive && work[fd] == 'S') alive = sink(fd);
        else if (alive && work[fd] == 'E') alive = echo(fd);
        else if (alive && work[fd] == 'R') alive = sink(fd);
      }
      if (alive && (events[i].events & EPOLLOUT) && work[fd] == 'R') alive = source(fd);
      if (!alive || (events[i].events & (EPOLLERR | EPOLLHUP))) close(fd);
    }
  }
}

// ---- SOCKS5 client ---------------------------------------------------------------------------------------------

static int read_all(int fd, void *into, int n) {
  for (int done = 0; done < n;) {
    ssize_t r = read(fd, (char *)into + done, n - done);
    if (r <= 0) return -1;
    done += r;
  }
  return 0;
}

// One address has about 28,000 ports.
static void set_source(int fd) {
  struct sockaddr_in a = loopback(0);
  if (!opt.from) return;
  a.sin_addr.s_addr = htonl(0x7f000000 + opt.from);
  if (bind(fd, (void *)&a, sizeof a)) die("bind");
}

static int dial(int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = loopback(port);
  set_source(fd);
  if (connect(fd, (void *)&a, sizeof a)) die("connect");
  set_nodelay(fd);
  return fd;
}

static unsigned char login[520];
static int login_length;

static const unsigned char *greeting(void) { return (const unsigned char *)(opt.user[0] ? "\5\1\2" : "\5\1\0"); }

// RFC 1929: version, length and user name, length and password.
static void build_login(void) {
  char name[256];
  int users = opt.accounts < USERS ? opt.accounts : USERS;
  if (users) snprintf(name, sizeof name, "%s%d", opt.user, rand() % users * (opt.accounts / users));
  else snprintf(name, sizeof name, "%s", opt.user);
  int user = strlen(name), password = strlen(opt.password);
  login[0] = 1;
  login[1] = user;
  memcpy(login + 2, name, user);
  login[2 + user] = password;
  memcpy(login + 3 + user, opt.password, password);
  login_length = 3 + user + password;
}

static void build_request(unsigned char *request, int command, struct sockaddr_in address) {
  memcpy(request, (unsigned char[]){5, command, 0, 1}, 4);
  memcpy(request + 4, &address.sin_addr, 4);
  memcpy(request + 8, &address.sin_port, 2);
}

// Logs in and sends a request; `reply` receives the ten bytes of an IPv4 reply.
static int open_proxied(int command, struct sockaddr_in address, unsigned char *reply) {
  unsigned char request[10], answer[2];
  int fd = dial(opt.proxy);
  if (write(fd, greeting(), 3) != 3 || read_all(fd, answer, 2) || answer[1] == 0xff) die("method");
  if (answer[1] == 2) {
    if (write(fd, login, login_length) != login_length || read_all(fd, answer, 2) || answer[1]) die("login");
  }
  build_request(request, command, address);
  if (write(fd, request, 10) != 10 || read_all(fd, reply, 10) || reply[1] || reply[3] != 1) die("request");
  return fd;
}

static int open_target(char work) {
  unsigned char reply[10];
  int fd = opt.proxy ? open_proxied(1, loopback(opt.target), reply) : dial(opt.target);
  if (write(fd, &work, 1) != 1) die("write");
  return fd;
}

// ---- results ---------------------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_latencies(double *seconds, int n) {
  qsort(seconds, n, sizeof *seconds, by_value);
  printf(",\"p50Us\":%.1f,\"p99Us\":%.1f}\n", n ? seconds[n / 2] * 1e6 : 0, n ? seconds[(int)(n * 0.99)] * 1e6 : 0);
}

// ---- modes -----------------------------------------------------------------------------------------------------

// Up: written, shut down, and the target has closed: every byte went through.
static void finish_upload(int fd) {
  char byte;
  shutdown(fd, SHUT_WR);
  set_nonblocking(fd, 0);
  while (read(fd, &byte, 1) > 0) {
  }
}

static void tput(void) {
  static double left[MAX_FD];
  struct epoll_event events[256];
  int epoll = epoll_create1(0), live = opt.conns, *fds = malloc(opt.conns * sizeof *fds);
  double total = 0;
  for (int i = 0; i < opt.conns; i++) {
    fds[i] = open_target(opt.down ? 'R' : 'S');
    set_nonblocking(fds[i], 1);
    left[fds[i]] = opt.bytes;
  }
  double start = now(), deadline = opt.seconds > 0 ? start + opt.seconds : 0;
  for (int i = 0; i < opt.conns; i++) watch(epoll, EPOLL_CTL_ADD, fds[i], opt.down ? EPOLLIN : EPOLLOUT);
  while (live && !(deadline && now() > deadline)) {
    int n = epoll_wait(epoll, events, 256, 1000);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      for (int round = 0; round < ROUNDS; round++) {
        size_t most = left[fd] < BLOCK ? left[fd] : BLOCK;
        ssize_t moved = opt.down ? recv(fd, block, BLOCK, MSG_TRUNC) : write(fd, block, most);
        if (moved < 0 && errno == EAGAIN) break;
        if (moved <= 0) die("transfer");
        total += moved;
        left[fd] -= moved;
        if (left[fd] > 0) continue;
        watch(epoll, EPOLL_CTL_DEL, fd, 0);
        if (!opt.down) finish_upload(fd);
        close(fd);
        live--;
        break;
      }
    }
    double ahead = opt.rate > 0 ? total / opt.rate - (now() - start) : 0;
    if (ahead > 0) usleep(ahead * 1e6);
  }
  double seconds = now() - start;
  printf("{\"bytes\":%.0f,\"seconds\":%.3f,\"megabytesPerSecond\":%.1f}\n", total, seconds, total / seconds / 1e6);
}

enum step { CONNECTING, GREETED, LOGGED_IN, REQUESTED, ECHOING };
struct attempt {
  enum step step;
  double started;
};

// Takes the next step; returns 1 when the byte came back, -1 when something was wrong, else 0.
static int advance(int epoll, int fd, struct attempt *a) {
  unsigned char in[64], request[10];
  build_request(request, 1, loopback(opt.target));
  switch (a->step) {
  case CONNECTING:
    a->step = opt.proxy ? GREETED : ECHOING;
    watch(epoll, EPOLL_CTL_MOD, fd, EPOLLIN);
    if (!opt.proxy) return write(fd, "Ex", 2) == 2 ? 0 : -1;
    return write(fd, greeting(), 3) == 3 ? 0 : -1;
  case GREETED:
    if (read(fd, in, 2) != 2 || in[1] == 0xff) return -1;
    a->step = in[1] == 2 ? LOGGED_IN : REQUESTED;
    if (opt.accounts) build_login();
    if (in[1] == 2) return write(fd, login, login_length) == login_length ? 0 : -1;
    return write(fd, request, 10) == 10 ? 0 : -1;
  case LOGGED_IN:
    if (read(fd, in, 2) != 2 || in[1]) return -1;
    a->step = REQUESTED;
    return write(fd, request, 10) == 10 ? 0 : -1;
  case REQUESTED:
    if (read(fd, in, 10) < 10 || in[1]) return -1;
    a->step = ECHOING;
    return write(fd, "Ex", 2) == 2 ? 0 : -1;
  default:
    return read(fd, in, 1) == 1 ? 1 : -1;
  }
}

static void begin(int epoll, struct attempt *attempts) {
  struct sockaddr_in a = loopback(opt.proxy ? opt.proxy : opt.target);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0) die("socket");
  connect(fd, (void *)&a, sizeof a);
  set_nodelay(fd);
  attempts[fd] = (struct attempt){CONNECTING, now()};
  watch(epoll, EPOLL_CTL_ADD, fd, EPOLLOUT);
}

static void rate(void) {
  static struct attempt attempts[MAX_FD];
  struct epoll_event events[512];
  struct linger reset = {1, 0}; // no TIME_WAIT: the ports must last
  int epoll = epoll_create1(0), started = 0, good = 0, failed = 0;
  double *latency = malloc(opt.count * sizeof *latency), start = now();
  while (started < opt.count && started < opt.conns) begin(epoll, attempts), started++;
  while (good + failed < started) {
    int n = epoll_wait(epoll, events, 512, 10000);
    if (n == 0) {
      errno = ETIMEDOUT;
      die("rate");
    }
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd, broken = (events[i].events & (EPOLLERR | EPOLLHUP)) && !(events[i].events & EPOLLIN);
      int result = broken ? -1 : advance(epoll, fd, &attempts[fd]);
      if (result == 0) continue;
      if (result > 0) latency[good++] = now() - attempts[fd].started;
      else failed++;
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      close(fd);
      if (started < opt.count) begin(epoll, attempts), started++;
    }
  }
  double seconds = now() - start;
  printf("{\"connections\":%d,\"failed\":%d,\"seconds\":%.3f,\"connectionsPerSecond\":%.0f", good, failed, seconds,
         good / seconds);
  print_latencies(latency, good);
}

static void ping(void) {
  int fd = open_target('E');
  double *latency = malloc(opt.count * sizeof *latency);
  for (int i = 0; i < opt.count; i++) {
    double start = now();
    if (write(fd, block, opt.size) != opt.size || read_all(fd, block, opt.size)) die("ping");
    latency[i] = now() - start;
  }
  printf("{\"rounds\":%d", opt.count);
  print_latencies(latency, opt.count);
}

// Each datagram carries the time at which it was sent.
static void udp(void) {
  static unsigned char out[65536], in[65536];
  struct sockaddr_in me = loopback(0), to = loopback(opt.target);
  struct timeval patience = {0, 200000};
  socklen_t length = sizeof me;
  int fd = socket(AF_INET, SOCK_DGRAM, 0), buffer = 4 << 20, header = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  bind(fd, (void *)&me, sizeof me);
  getsockname(fd, (void *)&me, &length);
  if (opt.proxy) {
    unsigned char reply[10];
    open_proxied(3, me, reply);
    build_request(out, 0, to); // RFC 1928 §7: the same layout, behind two reserved bytes and the fragment number
    memset(out, 0, 3);
    header = 10;
    memcpy(&to.sin_addr, reply + 4, 4);
    memcpy(&to.sin_port, reply + 8, 2);
    if (!to.sin_addr.s_addr) to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  connect(fd, (void *)&to, sizeof to);
  if (opt.size < 8) opt.size = 8;
  double *latency = malloc(opt.count * sizeof *latency), start = now(), sent_at;
  int sent = 0, got = 0, lost = 0, flying = 0;
  while (got + lost < opt.count) {
    for (; sent < opt.count && flying < opt.conns; sent++, flying++) {
      sent_at = now();
      memcpy(out + header, &sent_at, 8);
      if (send(fd, out, header + opt.size, 0) < 0) break;
    }
    ssize_t n = recv(fd, in, sizeof in, 0);
    if (n < 0) {
      lost += flying;
      if (!flying) break;
      flying = 0;
    } else if (n >= header + opt.size && got < opt.count) {
      memcpy(&sent_at, in + header, 8);
      latency[got++] = now() - sent_at;
      if (flying) flying--;
    }
  }
  double seconds = now() - start;
  printf("{\"packets\":%d,\"lost\":%d,\"seconds\":%.3f,\"packetsPerSecond\":%.0f", got, lost, seconds, got / seconds);
  print_latencies(latency, got);
}

// A server that has too few descriptors may answer and close: only sessions that still echo at the end count.
static void idle(void) {
  struct linger reset = {1, 0}; // no TIME_WAIT here, when all of them end
  struct timeval patience = {5, 0};
  int *fds = malloc(opt.conns * sizeof *fds);
  double start = now();
  char byte = 'x';
  for (int i = 0; i < opt.conns; i++) {
    fds[i] = open_target('E');
    setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  double opened = now() - start;
  usleep(opt.seconds * 1e6);
  for (int i = 0; i < opt.conns; i++) {
    errno = ECONNRESET; // what a read of 0 bytes means here
    if (write(fds[i], &byte, 1) != 1 || read_all(fds[i], &byte, 1)) die("a session ended while it was held");
  }
  printf("{\"held\":%d,\"openSeconds\":%.3f}\n", opt.conns, opened);
}

int main(int argc, char **argv) {
  struct rlimit limit;
  signal(SIGPIPE, SIG_IGN);
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (argc < 3) {
    fprintf(stderr, "usage: socksbench serve PORT | tput|rate|ping|udp|idle OPTIONS (see the head of socksbench.c)\n");
    return 2;
  }
  const char *mode = argv[1];
  if (!strcmp(mode, "serve")) serve(atoi(argv[2]));
  optind = 2;
  for (int o; (o = getopt(argc, argv, "p:t:u:k:c:n:s:b:d:w:r:a:f:")) != -1;) {
    if (o == 'p') opt.proxy = atoi(optarg);
    else if (o == 't') opt.target = atoi(optarg);
    else if (o == 'u') opt.user = optarg;
    else if (o == 'k') opt.password = optarg;
    else if (o == 'c') opt.conns = atoi(optarg);
    else if (o == 'n') opt.count = atoi(optarg);
    else if (o == 's') opt.size = atoi(optarg);
    else if (o == 'b') opt.bytes = atof(optarg);
    else if (o == 'd') opt.down = optarg[0] == 'd';
    else if (o == 'w') opt.seconds = atof(optarg);
    else if (o == 'r') opt.rate = atof(optarg);
    else if (o == 'a') opt.accounts = atoi(optarg);
    else if (o == 'f') opt.from = atoi(optarg);
    else return 2;
  }
  build_login();
  if (!strcmp(mode, "tput")) tput();
  else if (!strcmp(mode, "rate")) rate();
  else if (!strcmp(mode, "ping")) ping();
  else if (!strcmp(mode, "udp")) udp();
  else if (!strcmp(mode, "idle")) idle();
  else return 2;
  return 0;
}
