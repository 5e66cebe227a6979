#define _GNU_SOURCE
#include "conversation.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "json-text.h"

/* A line kept whole, and where its id stands in it. */
struct kept_line {
    char *bytes; /* NULL: none */
    size_t length;
    struct span id, uri;
    bool live; /* answered with a result: the engine took it */
};

struct waiting {
    char *id;
    size_t length;
};

struct conversation {
    struct waiting waiting[MAX_IN_FLIGHT];
    size_t waiting_count, waiting_bytes;
    struct kept_line initialize, initialized;
    struct kept_line resources[MAX_SUBSCRIPTIONS];
    size_t resource_count, kept_bytes;
    char prefix[40]; /* of replay ids, with the opening quote; no client can guess it */
    size_t prefix_length;
    uint64_t replays;
};

struct conversation *conversation_new(void) {
    struct conversation *c = calloc(1, sizeof *c);
    if (!c) abort();
    uint64_t nonce;
    if (getentropy(&nonce, sizeof nonce) != 0) nonce = (uint64_t)getpid();
    c->prefix_length = (size_t)snprintf(c->prefix, sizeof c->prefix, "\"belfry-replay-%016" PRIx64 "-", nonce);
    return c;
}

static bool method_is(const char *line, const struct scanned_line *s, const char *name) {
    return s->method.length && json_string_is(line + s->method.start, s->method.length, name);
}

static void drop(struct conversation *c, struct kept_line *kept) {
    c->kept_bytes -= kept->length;
    free(kept->bytes);
    *kept = (struct kept_line){0};
}

/* False where there is no room: the line is then not told again. */
static bool keep(struct conversation *c, struct kept_line *kept, const char *line, size_t length, const struct scanned_line *s) {
    drop(c, kept);
    if (c->kept_bytes + length > MAX_REPLAY_BYTES) return false;
    kept->bytes = malloc(length ? length : 1);
    if (!kept->bytes) abort();
    memcpy(kept->bytes, line, length);
    kept->length = length;
    kept->id = s->id;
    kept->uri = s->uri;
    c->kept_bytes += length;
    return true;
}

static void drop_resource(struct conversation *c, struct kept_line *kept) {
    drop(c, kept);
    *kept = c->resources[--c->resource_count];
}

static bool has_id(const struct kept_line *kept, const char *id, size_t length) {
    return kept->bytes && kept->id.length && json_equal(kept->bytes + kept->id.start, kept->id.length, id, length);
}

static struct kept_line *resource_of(struct conversation *c, const char *uri, size_t length) {
    for (size_t i = 0; i < c->resource_count; i++) {
        struct kept_line *kept = &c->resources[i];
        if (json_equal(kept->bytes + kept->uri.start, kept->uri.length, uri, length)) return kept;
    }
    return NULL;
}

static struct waiting *waiting_of(struct conversation *c, const char *id, size_t length) {
    for (size_t i = 0; i < c->waiting_count; i++) {
        if (json_equal(c->waiting[i].id, c->waiting[i].length, id, length)) return &c->waiting[i];
    }
    return NULL;
}

static void forget(struct conversation *c, struct waiting *w) {
    if (!w) return;
    c->waiting_bytes -= w->length;
    free(w->id);
    *w = c->waiting[--c->waiting_count];
}

const char *conversation_refusal(const struct conversation *c, const char *line, const struct scanned_line *s) {
    if (s->kind != LINE_REQUEST || !json_is_id(line + s->id.start, s->id.length)) return NULL;
    if (s->id.length > MAX_ID_BYTES) return "id: must be at most 1024 bytes";
    if (c->waiting_count == MAX_IN_FLIGHT || c->waiting_bytes + s->id.length > MAX_REPLAY_BYTES) {
        return "Too many requests wait for an answer: at most 1024 may";
    }
    return NULL;
}

static void keep_resource(struct conversation *c, const char *line, size_t length, const struct scanned_line *s) {
    struct kept_line *old = resource_of(c, line + s->uri.start, s->uri.length);
    /* Told twice: the first one stands, whatever the second is answered. */
    if (old && old->live) return;
    if (old) drop_resource(c, old);
    if (c->resource_count == MAX_SUBSCRIPTIONS) return;
    struct kept_line *slot = &c->resources[c->resource_count];
    *slot = (struct kept_line){0};
    if (keep(c, slot, line, length, s)) c->resource_count++;
}

void conversation_client_line(struct conversation *c, const char *line, size_t length, const struct scanned_line *s) {
    if (s->kind == LINE_NOTIFICATION) {
        if (method_is(line, s, "notifications/cancelled") && s->request_id.length) {
            forget(c, waiting_of(c, line + s->request_id.start, s->request_id.length));
        } else if (method_is(line, s, "notifications/initialized")) {
            keep(c, &c->initialized, line, length, s);
        }
        return;
    }
    const char *id = line + s->id.start;
    /* An id that no answer can carry is answered with null: there is nothing to wait for. */
    if (s->kind != LINE_REQUEST || !json_is_id(id, s->id.length)) return;
    struct waiting *w = &c->waiting[c->waiting_count++];
    *w = (struct waiting){malloc(s->id.length), s->id.length};
    if (!w->id) abort();
    memcpy(w->id, id, s->id.length);
    c->waiting_bytes += s->id.length;
    if (method_is(line, s, "initialize")) {
        if (!c->initialize.live) keep(c, &c->initialize, line, length, s);
    } else if (s->uri.length && line[s->uri.start] == '"') {
        if (method_is(line, s, "resources/subscribe")) {
            keep_resource(c, line, length, s);
        } else if (method_is(line, s, "resources/unsubscribe")) {
            struct kept_line *kept = resource_of(c, line + s->uri.start, s->uri.length);
            if (kept) drop_resource(c, kept);
        }
    }
}

bool conversation_engine_line(struct conversation *c, const char *line, const struct scanned_line *s) {
    if (s->kind != LINE_RESPONSE) return true;
    const char *id = line + s->id.start;
    if (s->id.length > c->prefix_length && memcmp(id, c->prefix, c->prefix_length) == 0) return false;
    struct waiting *w = waiting_of(c, id, s->id.length);
    if (!w) return true;
    forget(c, w);
    if (!c->initialize.live && has_id(&c->initialize, id, s->id.length)) {
        if (s->has_error) drop(c, &c->initialize);
        else c->initialize.live = true;
    }
    for (size_t i = 0; i < c->resource_count; i++) {
        struct kept_line *kept = &c->resources[i];
        if (kept->live || !has_id(kept, id, s->id.length)) continue;
        if (s->has_error) drop_resource(c, kept);
        else kept->live = true;
        break;
    }
    return true;
}

void conversation_lost(struct conversation *c, void (*answer)(void *context, const char *id, size_t length), void *context) {
    while (c->waiting_count) {
        answer(context, c->waiting[0].id, c->waiting[0].length);
        forget(c, &c->waiting[0]);
    }
    /* What was not taken yet has just been answered with an error: to the client it never happened. */
    if (!c->initialize.live) {
        drop(c, &c->initialize);
        drop(c, &c->initialized);
    }
    for (size_t i = c->resource_count; i-- > 0;) {
        if (!c->resources[i].live) drop_resource(c, &c->resources[i]);
    }
}

static void replay(struct conversation *c, const struct kept_line *kept, struct buffer *out) {
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64 "\"", ++c->replays);
    buffer_add(out, kept->bytes, kept->id.start);
    buffer_text(out, c->prefix);
    buffer_text(out, number);
    buffer_add(out, kept->bytes + kept->id.start + kept->id.length, kept->length - kept->id.start - kept->id.length);
    buffer_text(out, "\n");
}

void conversation_replay(struct conversation *c, struct buffer *out) {
    if (!c->initialize.bytes) return;
    replay(c, &c->initialize, out);
    if (c->initialized.bytes) {
        buffer_add(out, c->initialized.bytes, c->initialized.length);
        buffer_text(out, "\n");
    }
    for (size_t i = 0; i < c->resource_count; i++) replay(c, &c->resources[i], out);
}
