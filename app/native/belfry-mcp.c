/*
 * belfry-mcp: what MCP clients start. It relays whole lines between the client's stdio and the engine's unix
 * socket, and keeps the client when the engine goes away. It opens no store and keeps no content: of a line it
 * looks at ids and methods only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "buffer.h"
#include "engine-link.h"
#include "line-scanner.h"

#define MAX_CLIENT_LINE (1024 * 1024)
#define MAX_ENGINE_LINE (256 * 1024)
#define HOLD_BYTES (64 * 1024)
#ifndef BELFRY_WAIT_MS
#define BELFRY_WAIT_MS 10000
#endif
#define MAX_IN_FLIGHT 1024
#define MAX_RESOURCES 64
#define REPLAY_PREFIX "\"belfry-replay-"

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A line that is told again to an engine that starts anew, or an id that waits for its answer. */
struct text {
    char *bytes;
    size_t length;
};

static struct text text_copy(const char *bytes, size_t length) {
    struct text t = {malloc(length ? length : 1), length};
    if (!t.bytes) abort();
    memcpy(t.bytes, bytes, length);
    return t;
}

static bool text_is(const struct text *t, const char *bytes, size_t length) {
    return t->length == length && memcmp(t->bytes, bytes, length) == 0;
}

struct session {
    int engine;
    bool engine_ready;   /* `ok` was read */
    bool stdin_open;
    bool answered;       /* the client got an answer once: never leave before it does */
    bool ever_ready;
    int64_t lost_at;     /* when the engine went, or when we started */
    int64_t next_try;
    int retry_ms;
    struct buffer from_client, to_client, from_engine, to_engine, held;
    bool skipping_client_line, skipping_engine_line;
    struct text in_flight[MAX_IN_FLIGHT];
    size_t in_flight_count;
    struct text initialize, initialized;
    struct span initialize_id;
    struct text resource_uri[MAX_RESOURCES], resource_line[MAX_RESOURCES];
    struct span resource_id[MAX_RESOURCES];
    size_t resource_count;
    unsigned replays;
};

static void forget(struct session *s, const char *id, size_t length) {
    for (size_t i = 0; i < s->in_flight_count; i++) {
        if (!text_is(&s->in_flight[i], id, length)) continue;
        free(s->in_flight[i].bytes);
        s->in_flight[i] = s->in_flight[--s->in_flight_count];
        return;
    }
}

static void answer_error(struct session *s, const char *id, size_t length, const char *sentence, const char *reason) {
    buffer_text(&s->to_client, "{\"jsonrpc\":\"2.0\",\"id\":");
    buffer_add(&s->to_client, id, length);
    buffer_text(&s->to_client, ",\"error\":{\"code\":-32603,\"message\":\"");
    buffer_text(&s->to_client, sentence);
    buffer_text(&s->to_client, "\",\"data\":{\"reason\":\"");
    buffer_text(&s->to_client, reason);
    buffer_text(&s->to_client, "\"}}}\n");
    s->answered = true;
}

static void not_running(struct session *s, const char *id, size_t length) {
    answer_error(s, id, length, "Belfry is not running. Open Belfry and try again", "not_running");
}

/* Held lines whose time or room is over: requests are answered, notifications go. */
static void refuse_held(struct session *s) {
    char *at = buffer_head(&s->held), *end = at + buffer_length(&s->held);
    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) break;
        struct scanned_line line;
        scan_line(at, (size_t)(stop - at), &line);
        if (line.has_method && line.id.length) not_running(s, at + line.id.start, line.id.length);
        at = stop + 1;
    }
    buffer_clear(&s->held);
}

static void engine_gone(struct session *s) {
    if (s->engine >= 0) close(s->engine);
    s->engine = -1;
    buffer_clear(&s->from_engine);
    buffer_clear(&s->to_engine);
    s->skipping_engine_line = false;
    if (s->engine_ready) {
        s->lost_at = now_ms();
        s->retry_ms = 20;
        for (size_t i = 0; i < s->in_flight_count; i++) {
            answer_error(s, s->in_flight[i].bytes, s->in_flight[i].length, "Belfry restarted before it could answer", "engine_restarted");
            free(s->in_flight[i].bytes);
        }
        s->in_flight_count = 0;
    }
    s->engine_ready = false;
    s->next_try = now_ms() + s->retry_ms;
    if (s->retry_ms < 1000) s->retry_ms = s->retry_ms * 2 > 1000 ? 1000 : s->retry_ms * 2;
}

static void replay_line(struct session *s, const struct text *line, struct span id) {
    char number[48];
    int length = snprintf(number, sizeof number, REPLAY_PREFIX "%u\"", ++s->replays);
    buffer_add(&s->to_engine, line->bytes, id.start);
    buffer_add(&s->to_engine, number, (size_t)length);
    buffer_add(&s->to_engine, line->bytes + id.start + id.length, line->length - id.start - id.length);
    buffer_text(&s->to_engine, "\n");
}

static void client_line(struct session *s, const char *bytes, size_t length);

/* A fresh engine knows nothing of the client: told again what the client said, whose answers nobody waits for. */
static void engine_arrived(struct session *s) {
    s->engine_ready = true;
    s->retry_ms = 20;
    if (s->ever_ready) {
        if (s->initialize.bytes) replay_line(s, &s->initialize, s->initialize_id);
        if (s->initialized.bytes) {
            buffer_add(&s->to_engine, s->initialized.bytes, s->initialized.length);
            buffer_text(&s->to_engine, "\n");
        }
        for (size_t i = 0; i < s->resource_count; i++) replay_line(s, &s->resource_line[i], s->resource_id[i]);
    }
    s->ever_ready = true;
    struct buffer held = s->held;
    s->held = (struct buffer){0};
    char *at = held.data ? buffer_head(&held) : NULL, *end = held.data ? at + buffer_length(&held) : NULL;
    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) break;
        client_line(s, at, (size_t)(stop - at));
        at = stop + 1;
    }
    free(held.data);
}

static void remember(struct session *s, const char *bytes, size_t length, const struct scanned_line *line) {
    const char *id = bytes + line->id.start;
    if (line->id.length && s->in_flight_count < MAX_IN_FLIGHT) {
        s->in_flight[s->in_flight_count++] = text_copy(id, line->id.length);
    }
    if (strcmp(line->method, "initialize") == 0 && line->id.length) {
        free(s->initialize.bytes);
        s->initialize = text_copy(bytes, length);
        s->initialize_id = line->id;
    } else if (strcmp(line->method, "notifications/initialized") == 0) {
        free(s->initialized.bytes);
        s->initialized = text_copy(bytes, length);
    } else if (strcmp(line->method, "notifications/cancelled") == 0 && line->request_id.length) {
        forget(s, bytes + line->request_id.start, line->request_id.length);
    } else if (strncmp(line->method, "resources/", 10) == 0 && line->uri.length) {
        const char *uri = bytes + line->uri.start;
        bool subscribe = strcmp(line->method, "resources/subscribe") == 0;
        if (!subscribe && strcmp(line->method, "resources/unsubscribe") != 0) return;
        for (size_t i = 0; i < s->resource_count; i++) {
            if (!text_is(&s->resource_uri[i], uri, line->uri.length)) continue;
            free(s->resource_uri[i].bytes);
            free(s->resource_line[i].bytes);
            s->resource_count--;
            s->resource_uri[i] = s->resource_uri[s->resource_count];
            s->resource_line[i] = s->resource_line[s->resource_count];
            s->resource_id[i] = s->resource_id[s->resource_count];
            break;
        }
        if (!subscribe || s->resource_count == MAX_RESOURCES || !line->id.length) return;
        s->resource_uri[s->resource_count] = text_copy(uri, line->uri.length);
        s->resource_line[s->resource_count] = text_copy(bytes, length);
        s->resource_id[s->resource_count++] = line->id;
    }
}

static void client_line(struct session *s, const char *bytes, size_t length) {
    struct scanned_line line;
    scan_line(bytes, length, &line);
    if (s->engine_ready) {
        if (line.has_method) remember(s, bytes, length, &line);
        buffer_add(&s->to_engine, bytes, length);
        buffer_text(&s->to_engine, "\n");
        return;
    }
    bool request = line.has_method && line.id.length;
    /* An engine that is connected and about to greet is running: a first request may be as long as any. */
    size_t room = s->engine >= 0 ? MAX_CLIENT_LINE + HOLD_BYTES : HOLD_BYTES;
    if (now_ms() - s->lost_at > BELFRY_WAIT_MS || buffer_length(&s->held) + length > room) {
        if (request) not_running(s, bytes + line.id.start, line.id.length);
        /* The handshake is replayed to the next engine even if nobody heard it now. */
        if (line.has_method && !request) remember(s, bytes, length, &line);
        return;
    }
    buffer_add(&s->held, bytes, length);
    buffer_text(&s->held, "\n");
}

static void too_long(struct session *s) {
    struct scanned_line line;
    /* The id may stand in what was kept; mostly the line is cut inside a string, and then it is null. */
    scan_line(buffer_head(&s->from_client), buffer_length(&s->from_client), &line);
    buffer_text(&s->to_client, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (line.id.length) buffer_add(&s->to_client, buffer_head(&s->from_client) + line.id.start, line.id.length);
    else buffer_text(&s->to_client, "null");
    buffer_text(&s->to_client, ",\"error\":{\"code\":-32600,\"message\":\"A message must be at most 1048576 bytes\",\"data\":{\"maxBytes\":1048576}}}\n");
}

static void read_client(struct session *s) {
    char *room = buffer_room(&s->from_client, 65536);
    ssize_t got = read(STDIN_FILENO, room, 65536);
    if (got < 0) {
        if (errno != EAGAIN && errno != EINTR) s->stdin_open = false;
        return;
    }
    if (got == 0) {
        /* Half a line at the end is no message. */
        s->stdin_open = false;
        return;
    }
    size_t scan = s->from_client.to;
    s->from_client.to += (size_t)got;
    for (;;) {
        char *stop = memchr(s->from_client.data + scan, '\n', s->from_client.to - scan);
        if (!stop) break;
        size_t length = (size_t)(stop - buffer_head(&s->from_client));
        if (s->skipping_client_line) s->skipping_client_line = false;
        else if (length > MAX_CLIENT_LINE) too_long(s);
        else if (length > 0) client_line(s, buffer_head(&s->from_client), length);
        buffer_take(&s->from_client, length + 1);
        scan = s->from_client.from;
    }
    if (s->skipping_client_line) buffer_clear(&s->from_client);
    else if (buffer_length(&s->from_client) > MAX_CLIENT_LINE) {
        too_long(s);
        s->skipping_client_line = true;
        buffer_clear(&s->from_client);
    }
}

static void engine_line(struct session *s, const char *bytes, size_t length) {
    struct scanned_line line;
    scan_line(bytes, length, &line);
    if (line.id.length && line.has_result) {
        const char *id = bytes + line.id.start;
        if (line.id.length > sizeof REPLAY_PREFIX && memcmp(id, REPLAY_PREFIX, sizeof REPLAY_PREFIX - 1) == 0) return;
        forget(s, id, line.id.length);
        s->answered = true;
    }
    buffer_add(&s->to_client, bytes, length);
    buffer_text(&s->to_client, "\n");
}

/* False where the engine refused us for good: the sentence was printed. */
static bool read_engine(struct session *s) {
    char *room = buffer_room(&s->from_engine, 65536);
    ssize_t got = read(s->engine, room, 65536);
    if (got <= 0) {
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        engine_gone(s);
        return true;
    }
    size_t scan = s->from_engine.to;
    s->from_engine.to += (size_t)got;
    for (;;) {
        char *stop = memchr(s->from_engine.data + scan, '\n', s->from_engine.to - scan);
        if (!stop) break;
        char *head = buffer_head(&s->from_engine);
        size_t length = (size_t)(stop - head);
        if (!s->engine_ready) {
            if (length >= 2 && memcmp(head, "ok", 2) == 0) {
                engine_arrived(s);
            } else {
                if (!s->answered && !s->ever_ready) {
                    size_t skip = length > 6 && memcmp(head, "error ", 6) == 0 ? 6 : 0;
                    fprintf(stderr, "belfry-mcp: %.*s\n", (int)(length - skip), head + skip);
                    return false;
                }
                engine_gone(s);
                return true;
            }
        } else if (s->skipping_engine_line) {
            s->skipping_engine_line = false;
        } else if (length > 0 && length <= MAX_ENGINE_LINE) {
            engine_line(s, head, length);
        }
        buffer_take(&s->from_engine, length + 1);
        scan = s->from_engine.from;
    }
    if (buffer_length(&s->from_engine) > MAX_ENGINE_LINE) {
        s->skipping_engine_line = true;
        buffer_clear(&s->from_engine);
    }
    return true;
}

/* False where the other side is gone. */
static bool flush(int fd, struct buffer *b) {
    while (buffer_length(b) > 0) {
        ssize_t sent = write(fd, buffer_head(b), buffer_length(b));
        if (sent < 0) return errno == EAGAIN || errno == EINTR;
        buffer_take(b, (size_t)sent);
    }
    return true;
}

static void try_engine(struct session *s, const struct link *link) {
    char sentence[256];
    s->engine = link_connect(link, sentence, sizeof sentence);
    if (s->engine < 0) {
        engine_gone(s);
        return;
    }
    fcntl(s->engine, F_SETFL, O_NONBLOCK);
    struct buffer hello = {0};
    link_hello_mcp(link, &hello);
    buffer_add(&s->to_engine, buffer_head(&hello), buffer_length(&hello));
    free(hello.data);
}

static void set_flag(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

int relay(const struct link *link) {
    static struct session session;
    struct session *s = &session;
    s->engine = -1;
    s->stdin_open = true;
    s->retry_ms = 20;
    s->lost_at = now_ms();
    set_flag(STDIN_FILENO);
    set_flag(STDOUT_FILENO);
    bool launched = false;
    while (true) {
        int64_t now = now_ms();
        if (s->engine < 0 && now >= s->next_try) {
            try_engine(s, link);
            if (s->engine < 0 && !launched) {
                launched = true;
                link_open_app();
            }
        }
        if (s->engine < 0 && !s->answered && !s->ever_ready && now - s->lost_at >= BELFRY_WAIT_MS) {
            fprintf(stderr, "belfry-mcp: Belfry is not running. Open Belfry, then start this client again.\n");
            return 69;
        }
        if (!s->engine_ready && buffer_length(&s->held) && now - s->lost_at > BELFRY_WAIT_MS) refuse_held(s);
        if (!flush(STDOUT_FILENO, &s->to_client)) return 0;
        if (s->engine >= 0 && !flush(s->engine, &s->to_engine)) engine_gone(s);
        if (!s->stdin_open) return 0;

        struct pollfd fds[3] = {{STDIN_FILENO, 0, 0}, {STDOUT_FILENO, 0, 0}, {-1, 0, 0}};
        /* Nothing is taken from one side while the other does not take what is there. */
        if (buffer_length(&s->to_engine) < MAX_CLIENT_LINE && buffer_length(&s->to_client) < 2 * MAX_ENGINE_LINE) fds[0].events = POLLIN;
        if (buffer_length(&s->to_client)) fds[1].events = POLLOUT;
        if (s->engine >= 0) {
            fds[2].fd = s->engine;
            if (buffer_length(&s->to_client) < MAX_ENGINE_LINE) fds[2].events = POLLIN;
            if (buffer_length(&s->to_engine)) fds[2].events |= POLLOUT;
        }
        if (!fds[0].events) fds[0].fd = -1;
        if (!fds[1].events) fds[1].fd = -1;
        int wait = -1;
        if (s->engine < 0) wait = (int)(s->next_try > now ? s->next_try - now : 0);
        else if (!s->engine_ready && buffer_length(&s->held)) wait = 100;
        if (poll(fds, 3, wait) < 0 && errno != EINTR) return 1;
        if (fds[2].revents & (POLLIN | POLLHUP | POLLERR)) {
            if (!read_engine(s)) return 69;
        }
        if (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) read_client(s);
        if (fds[1].revents & (POLLERR | POLLNVAL)) return 0;
    }
}
