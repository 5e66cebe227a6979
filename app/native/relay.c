#define _GNU_SOURCE
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "conversation.h"
#include "engine-link.h"
#include "json-text.h"
#include "lane.h"
#include "line-scanner.h"

#define MAX_CLIENT_LINE (1024 * 1024)
#define MAX_ENGINE_LINE (256 * 1024)
#define HOLD_BYTES (64 * 1024)
#define READ_BYTES (32 * 1024)
/* With more unsent than this in a direction, no more is read for it. */
#define HIGH_WATER (64 * 1024)
/* How long an engine may be away before its client is told so. Tests build a faster variant. */
#ifndef BELFRY_WAIT_MS
#define BELFRY_WAIT_MS 10000
#endif
#define FIRST_RETRY_MS 50
/* Quick while somebody waits for an engine that starts; then as rarely as nobody notices. */
#define WAITING_RETRY_MS 200
#define LATER_RETRY_MS 1000
/* After the client's end: for what is on its way already. */
#define CLOSING_MS 300
#define EXIT_NO_ENGINE 69

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

enum engine_state { ENGINE_AWAY, ENGINE_GREETING, ENGINE_READY };

struct session {
    const struct relay_options *options;
    struct conversation *talk;
    int engine;
    enum engine_state state;
    bool answered;   /* the client got an answer: never leave before it does */
    bool ever_ready; /* an engine was there */
    bool refused;    /* an engine does not want us, for good */
    bool closing, stdin_ended;
    bool plain_output; /* poll() does not know it: some devices on macOS */
    int64_t away_since, state_since, next_try, closing_at;
    int retry_ms;
    struct lane client, from_engine;
    struct buffer first_words; /* handshake and replay, before the client's lines */
    struct buffer answers;     /* our own lines for the client */
    /* Our answers go out between lines, and those about a lost engine behind its last lines. */
    bool inside_answer, inside_line;
    size_t lines_first;
    char sentence[512]; /* why there is no engine */
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- answers of our own --- */

/* `id` as JSON text, or NULL; `data` is the inside of an object. */
static void answer(struct session *s, const char *id, size_t length, int code, const char *message, const char *data) {
    char number[16];
    snprintf(number, sizeof number, "%d", code);
    buffer_text(&s->answers, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id && json_is_id(id, length)) buffer_add(&s->answers, id, length);
    else buffer_text(&s->answers, "null");
    buffer_text(&s->answers, ",\"error\":{\"code\":");
    buffer_text(&s->answers, number);
    buffer_text(&s->answers, ",\"message\":");
    json_add_string(&s->answers, message, strlen(message));
    if (data) {
        buffer_text(&s->answers, ",\"data\":{");
        buffer_text(&s->answers, data);
        buffer_text(&s->answers, "}");
    }
    buffer_text(&s->answers, "}}\n");
    s->answered = true;
}

static void answer_restarted(void *context, const char *id, size_t length) {
    answer(context, id, length, -32603, "Belfry restarted before it could answer. Try again.", "\"reason\":\"engine_restarted\"");
}

static void answer_too_long(struct session *s, const char *line, size_t length) {
    struct scanned_line scanned;
    scan_line(line, length, &scanned);
    bool response = scanned.has_result || scanned.has_error;
    const char *id = scanned.id.length && scanned.id.length <= MAX_ID_BYTES && !response ? line + scanned.id.start : NULL;
    answer(s, id, scanned.id.length, -32600, "A message must be at most 1048576 bytes", "\"maxBytes\":1048576");
}

/* --- the engine comes and goes --- */

static void engine_lost(struct session *s, int64_t now) {
    if (s->engine >= 0) close(s->engine);
    s->engine = -1;
    lane_forget_partial(&s->from_engine);
    s->from_engine.skipping = false;
    buffer_clear(&s->first_words);
    if (s->state == ENGINE_READY) {
        /* Lines that were judged may have been heard in part: their requests are answered, not repeated. */
        lane_settle(&s->client);
        lane_sent(&s->client, s->client.whole);
        s->lines_first = s->from_engine.whole;
        conversation_lost(s->talk, answer_restarted, s);
        s->away_since = now;
        /* An engine that stood for a while is looked for at once; one that falls over again is not. */
        if (now - s->state_since >= 1000) s->retry_ms = FIRST_RETRY_MS;
        snprintf(s->sentence, sizeof s->sentence, "%s", NOT_RUNNING);
    }
    s->state = ENGINE_AWAY;
    s->next_try = now + s->retry_ms;
    int most = now - s->away_since < BELFRY_WAIT_MS ? WAITING_RETRY_MS : LATER_RETRY_MS;
    s->retry_ms = s->retry_ms * 2 > most ? most : s->retry_ms * 2;
}

static void try_engine(struct session *s, int64_t now) {
    s->engine = link_connect(s->options->socket_path, true, s->sentence, sizeof s->sentence);
    if (s->engine < 0) {
        engine_lost(s, now);
        return;
    }
    s->state = ENGINE_GREETING;
    s->state_since = now;
    link_hello_mcp(s->options->label, s->options->channel, &s->first_words);
}

static void engine_ready(struct session *s, int64_t now) {
    s->state = ENGINE_READY;
    s->state_since = now;
    s->ever_ready = true;
    conversation_replay(s->talk, &s->first_words);
    lane_rejudge(&s->client);
}

/* --- lines of the client --- */

/* A held request that the client takes back is never sent. */
static void drop_held(struct session *s, const char *id, size_t length) {
    char *head = buffer_head(&s->client.bytes);
    for (size_t at = 0; at < s->client.whole;) {
        size_t size = (size_t)((char *)memchr(head + at, '\n', s->client.whole - at) - (head + at)) + 1;
        struct scanned_line held;
        scan_line(head + at, size - 1, &held);
        if (held.kind == LINE_REQUEST && json_equal(head + at + held.id.start, held.id.length, id, length)) {
            /* What lies behind keeps its place: the gap moves behind the held lines. */
            memmove(head + at, head + at + size, s->client.whole - at - size);
            s->client.whole -= size;
            return;
        }
        at += size;
    }
}

static bool is_cancel(const char *line, const struct scanned_line *scanned) {
    return scanned->kind == LINE_NOTIFICATION && scanned->request_id.length &&
           json_string_is(line + scanned->method.start, scanned->method.length, "notifications/cancelled");
}

/* Whether the line is held for the engine to come. */
static bool hold_line(struct session *s, const char *line, size_t length, const struct scanned_line *scanned, int64_t now) {
    if (is_cancel(line, scanned)) {
        drop_held(s, line + scanned->request_id.start, scanned->request_id.length);
        return false;
    }
    /* For an engine that is about to greet, a line of any length waits: turn() then reads no further. */
    size_t room = s->state == ENGINE_GREETING ? HOLD_BYTES + MAX_CLIENT_LINE + READ_BYTES : HOLD_BYTES;
    if (now - s->away_since < BELFRY_WAIT_MS && s->client.whole + length + 1 <= room) return true;
    if (scanned->kind == LINE_REQUEST) {
        const char *id = scanned->id.length <= MAX_ID_BYTES ? line + scanned->id.start : NULL;
        answer(s, id, scanned->id.length, -32603, s->sentence, "\"reason\":\"not_running\"");
    } else {
        /* `initialized` is told to the next engine even if none hears it now. */
        conversation_client_line(s->talk, line, length, scanned);
    }
    return false;
}

static bool pass_line(struct session *s, const char *line, size_t length, const struct scanned_line *scanned) {
    const char *refusal = conversation_refusal(s->talk, line, scanned);
    if (refusal) {
        const char *id = scanned->id.length <= MAX_ID_BYTES ? line + scanned->id.start : NULL;
        answer(s, id, scanned->id.length, -32600, refusal, NULL);
        return false;
    }
    conversation_client_line(s->talk, line, length, scanned);
    return true;
}

/* Judges what the client said, as long as there is room for answers. */
static void judge_client(struct session *s, int64_t now) {
    char *line;
    size_t length;
    while (buffer_length(&s->answers) < HIGH_WATER && lane_next(&s->client, &line, &length)) {
        bool pass = false;
        if (s->client.skipping && s->client.rest >= s->client.held) {
            s->client.skipping = false;
        } else if (length > MAX_CLIENT_LINE) {
            answer_too_long(s, line, length);
        } else if (length > 0) {
            struct scanned_line scanned;
            scan_line(line, length, &scanned);
            pass = s->state == ENGINE_READY ? pass_line(s, line, length, &scanned) : hold_line(s, line, length, &scanned, now);
        }
        if (pass) lane_pass(&s->client, length);
        else lane_drop(&s->client, length);
    }
    lane_settle(&s->client);
    if (s->client.seen < buffer_length(&s->client.bytes)) return;
    if (s->client.skipping) {
        lane_forget_partial(&s->client);
    } else if (lane_partial(&s->client) > MAX_CLIENT_LINE) {
        answer_too_long(s, buffer_head(&s->client.bytes) + s->client.rest, lane_partial(&s->client));
        lane_forget_partial(&s->client);
        s->client.skipping = true;
    }
}

static void read_client(struct session *s) {
    ssize_t got = read(STDIN_FILENO, buffer_room(&s->client.bytes, READ_BYTES), READ_BYTES);
    if (got > 0) s->client.bytes.to += (size_t)got;
    /* Half a line at the end is no message. */
    else if (got == 0 || (errno != EAGAIN && errno != EINTR)) s->stdin_ended = s->closing = true;
}

/* --- lines of the engine --- */

/* An answer that is too long is an error to the client, or it would wait for ever. */
static void engine_line_too_long(struct session *s, const char *line, size_t length) {
    struct scanned_line scanned;
    scan_line(line, length, &scanned);
    if (scanned.method.length || !scanned.id.length || scanned.id.length > MAX_ID_BYTES) return;
    scanned.kind = LINE_RESPONSE;
    scanned.has_error = true;
    if (!conversation_engine_line(s->talk, line, &scanned)) return;
    answer(s, line + scanned.id.start, scanned.id.length, -32603, "The answer is longer than 262144 bytes", "\"reason\":\"too_long\",\"maxBytes\":262144");
}

/* Only a client that was never served may be left. */
static void unwelcome(struct session *s, int64_t now) {
    if (!s->answered && !s->ever_ready) s->refused = true;
    engine_lost(s, now);
}

static void judge_engine(struct session *s, int64_t now) {
    char *line;
    size_t length;
    while (s->engine >= 0 && lane_next(&s->from_engine, &line, &length)) {
        bool pass = false;
        if (s->state == ENGINE_GREETING) {
            bool welcome = link_welcome(line, length, s->sentence, sizeof s->sentence);
            if (!welcome) {
                unwelcome(s, now);
                return;
            }
            engine_ready(s, now);
        } else if (s->from_engine.skipping) {
            s->from_engine.skipping = false;
        } else if (length > MAX_ENGINE_LINE) {
            engine_line_too_long(s, line, length);
        } else if (length > 0) {
            struct scanned_line scanned;
            scan_line(line, length, &scanned);
            pass = conversation_engine_line(s->talk, line, &scanned);
            if (pass && scanned.kind == LINE_RESPONSE) s->answered = true;
        }
        if (pass) lane_pass(&s->from_engine, length);
        else lane_drop(&s->from_engine, length);
    }
    lane_settle(&s->from_engine);
    size_t partial = lane_partial(&s->from_engine);
    if (s->state == ENGINE_GREETING && partial > MAX_WELCOME) {
        link_welcome("", 0, s->sentence, sizeof s->sentence);
        unwelcome(s, now);
    } else if (s->from_engine.skipping) {
        lane_forget_partial(&s->from_engine);
    } else if (partial > MAX_ENGINE_LINE) {
        engine_line_too_long(s, buffer_head(&s->from_engine.bytes) + s->from_engine.rest, partial);
        lane_forget_partial(&s->from_engine);
        s->from_engine.skipping = true;
    }
}

/* True where something came. */
static bool read_engine(struct session *s, int64_t now) {
    ssize_t got = read(s->engine, buffer_room(&s->from_engine.bytes, READ_BYTES), READ_BYTES);
    if (got > 0) {
        s->from_engine.bytes.to += (size_t)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        /* Its last lines come first. */
        judge_engine(s, now);
        if (s->engine >= 0) engine_lost(s, now);
    }
    return got > 0;
}

/* --- output --- */

static bool blocked(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static void write_engine(struct session *s, int64_t now) {
    while (s->engine >= 0) {
        struct buffer *words = &s->first_words;
        size_t first = buffer_length(words);
        size_t count = first ? first : s->state == ENGINE_READY ? s->client.whole : 0;
        if (count == 0) return;
        ssize_t sent = write(s->engine, buffer_head(first ? words : &s->client.bytes), count);
        if (sent < 0) {
            /* What it said last, an error sentence perhaps, may still be there to read. */
            if (!blocked() && !read_engine(s, now) && s->engine >= 0) engine_lost(s, now);
            return;
        }
        if (first) buffer_take(words, (size_t)sent);
        else lane_sent(&s->client, (size_t)sent);
    }
}

/* False where the client does not listen any more. */
static bool write_client(struct session *s) {
    for (;;) {
        bool ours = s->inside_answer || (buffer_length(&s->answers) && !s->inside_line && s->lines_first == 0);
        struct buffer *from = ours ? &s->answers : &s->from_engine.bytes;
        size_t count = ours ? buffer_length(&s->answers) : s->lines_first ? s->lines_first : s->from_engine.whole;
        if (count == 0) return true;
        ssize_t sent = write(STDOUT_FILENO, buffer_head(from), count);
        if (sent < 0) return blocked();
        if (sent == 0) return true;
        bool inside = buffer_head(from)[sent - 1] != '\n';
        if (ours) {
            s->inside_answer = inside;
            buffer_take(from, (size_t)sent);
        } else {
            s->inside_line = inside;
            if (s->lines_first) s->lines_first -= (size_t)sent;
            lane_sent(&s->from_engine, (size_t)sent);
        }
    }
}

/* --- the loop --- */

static bool has_output(const struct session *s) { return buffer_length(&s->answers) || s->from_engine.whole; }

static bool has_input(const struct session *s) { return buffer_length(&s->first_words) || (s->state == ENGINE_READY && s->client.whole); }

/* Milliseconds until something is due without any byte coming, or -1. */
static int time_left(const struct session *s, int64_t now) {
    int64_t due = INT64_MAX;
    if (s->state == ENGINE_AWAY && !s->closing) due = s->next_try;
    if (s->state == ENGINE_GREETING) due = s->state_since + BELFRY_WAIT_MS;
    bool waits = s->state != ENGINE_READY && (s->client.whole || (!s->ever_ready && !s->answered));
    if (waits && s->away_since + BELFRY_WAIT_MS < due) due = s->away_since + BELFRY_WAIT_MS;
    if (s->closing && s->closing_at < due) due = s->closing_at;
    return due == INT64_MAX ? -1 : due <= now ? 0 : (int)(due - now);
}

/* What time does: looks for an engine, ends waits. False where it gives up. */
static bool keep_time(struct session *s, int64_t now) {
    if (s->state == ENGINE_GREETING && now - s->state_since >= BELFRY_WAIT_MS) {
        snprintf(s->sentence, sizeof s->sentence, "Belfry does not answer. Quit and open it, then try again.");
        engine_lost(s, now);
    }
    if (s->state == ENGINE_AWAY && now >= s->next_try && !s->closing) try_engine(s, now);
    if (s->state == ENGINE_READY || now - s->away_since < BELFRY_WAIT_MS) return true;
    if (!s->ever_ready && !s->answered) return false;
    if (s->client.whole) lane_rejudge(&s->client);
    return true;
}

/* One wait and what came of it. Returns an exit code, or -1 to go on. */
static int turn(struct session *s, int64_t now) {
    enum { IN, OUT, ENGINE };
    struct pollfd fds[3] = {{STDIN_FILENO, POLLRDHUP, 0}, {STDOUT_FILENO, 0, 0}, {s->engine, 0, 0}};
    bool room = buffer_length(&s->answers) < HIGH_WATER && s->client.whole <= HIGH_WATER;
    if (room && !s->stdin_ended) fds[IN].events = POLLIN | POLLRDHUP;
    /* A hang-up that is known already would wake us for ever. */
    if (s->stdin_ended || (s->closing && !room)) fds[IN].fd = -1;
    if (has_output(s)) fds[OUT].events = POLLOUT;
    if (s->plain_output) fds[OUT].fd = -1;
    if (s->from_engine.whole <= HIGH_WATER) fds[ENGINE].events |= POLLIN;
    if (has_input(s)) fds[ENGINE].events |= POLLOUT;
    /* An engine's hang-up is read behind its last lines. */
    if (!fds[ENGINE].events) fds[ENGINE].fd = -1;
    int ready = poll(fds, 3, time_left(s, now));
    if (ready < 0) return errno == EINTR ? -1 : 1;
    now = now_ms();
    if (fds[OUT].revents & (POLLERR | POLLHUP)) return 0;
    if (fds[OUT].revents & POLLNVAL) s->plain_output = true;
    if (fds[ENGINE].revents & (POLLIN | POLLHUP | POLLERR)) {
        if (s->from_engine.whole <= HIGH_WATER) read_engine(s, now);
        else if (fds[ENGINE].revents & POLLERR) engine_lost(s, now);
    }
    if (fds[IN].revents & POLLIN) read_client(s);
    else if (fds[IN].revents & (POLLERR | POLLNVAL)) s->stdin_ended = s->closing = true;
    else if (fds[IN].revents & (POLLHUP | POLLRDHUP)) {
        s->closing = true;
        if (room) s->stdin_ended = true;
    }
    return -1;
}

/* The client has closed stdin. True where nothing is on its way any more, or it took too long. */
static bool is_over(struct session *s, int64_t now) {
    if (!s->closing_at) s->closing_at = now + CLOSING_MS;
    if (now >= s->closing_at) return true;
    bool unsent = has_input(s) || (s->state == ENGINE_GREETING && s->client.whole);
    if (!s->stdin_ended || has_output(s) || unsent) return false;
    /* What the engine has said already is the client's. */
    return s->engine < 0 || !read_engine(s, now);
}

static int run(struct session *s) {
    for (;;) {
        int64_t now = now_ms();
        bool waits = keep_time(s, now);
        judge_engine(s, now);
        if (!waits || s->refused) {
            bool absent = strcmp(s->sentence, NOT_RUNNING) == 0;
            fprintf(stderr, "belfry-mcp: %s\n", absent ? "Belfry is not running. Open Belfry, then start this client again." : s->sentence);
            return EXIT_NO_ENGINE;
        }
        judge_client(s, now);
        write_engine(s, now);
        if (!write_client(s)) return 0;
        /* Again before a wait: room that came free, or an engine that went. */
        judge_client(s, now);
        if (s->closing) {
            if (is_over(s, now)) return 0;
            judge_engine(s, now);
            if (!write_client(s)) return 0;
        }
        int code = turn(s, now);
        if (code >= 0) return code;
    }
}

int relay(const struct relay_options *options) {
    static struct session session;
    struct session *s = &session;
    s->options = options;
    s->talk = conversation_new();
    s->engine = -1;
    s->retry_ms = FIRST_RETRY_MS;
    s->away_since = now_ms();
    snprintf(s->sentence, sizeof s->sentence, "%s", NOT_RUNNING);
    try_engine(s, s->away_since);
    if (s->engine < 0) link_open_app();
    /* A terminal's flags belong to its shell; others get theirs back. */
    int flags = isatty(STDOUT_FILENO) ? -1 : fcntl(STDOUT_FILENO, F_GETFL);
    if (flags >= 0) fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    int code = run(s);
    if (flags >= 0) fcntl(STDOUT_FILENO, F_SETFL, flags);
    return code;
}
