/*
 * One direction of the relay, in one buffer: lines that were judged and go on, then bytes not judged yet.
 * Positions count from the buffer's head: [0, whole) goes on, [whole, rest) was dropped, [rest, end) waits.
 */
#ifndef BELFRY_LANE_H
#define BELFRY_LANE_H

#include <stdbool.h>

#include "buffer.h"

struct lane {
    struct buffer bytes;
    size_t whole, rest;
    size_t seen;   /* up to here there is no newline behind `rest` */
    size_t held;   /* up to here lines are judged for the second time */
    bool skipping; /* behind those: in a line that is too long */
};

/* The next whole line without its newline, or false. */
static inline bool lane_next(struct lane *l, char **line, size_t *length) {
    size_t end = buffer_length(&l->bytes);
    char *stop = l->seen < end ? memchr(buffer_head(&l->bytes) + l->seen, '\n', end - l->seen) : NULL;
    if (!stop) {
        l->seen = end;
        return false;
    }
    *line = buffer_head(&l->bytes) + l->rest;
    *length = (size_t)(stop - *line);
    return true;
}

/* Drops the line that lane_next gave. */
static inline void lane_drop(struct lane *l, size_t length) { l->rest = l->seen = l->rest + length + 1; }

/* Lets it go on. */
static inline void lane_pass(struct lane *l, size_t length) {
    char *head = buffer_head(&l->bytes);
    if (l->whole != l->rest) memmove(head + l->whole, head + l->rest, length + 1);
    l->whole += length + 1;
    lane_drop(l, length);
}

/* Closes the gap of dropped lines. */
static inline void lane_settle(struct lane *l) {
    size_t gap = l->rest - l->whole;
    if (gap == 0) return;
    char *head = buffer_head(&l->bytes);
    memmove(head + l->whole, head + l->rest, buffer_length(&l->bytes) - l->rest);
    l->bytes.to -= gap;
    l->seen -= gap;
    l->held = l->held > l->rest ? l->held - gap : 0;
    l->rest = l->whole;
    if (buffer_length(&l->bytes) == 0) buffer_clear(&l->bytes);
}

/* `count` bytes of the lines that go on have gone. */
static inline void lane_sent(struct lane *l, size_t count) {
    buffer_take(&l->bytes, count);
    l->whole -= count;
    l->rest -= count;
    l->seen -= count;
    l->held = l->held > count ? l->held - count : 0;
}

/* The end of a line that has not ended yet. */
static inline size_t lane_partial(const struct lane *l) { return buffer_length(&l->bytes) - l->rest; }

static inline void lane_forget_partial(struct lane *l) {
    lane_settle(l);
    l->bytes.to -= lane_partial(l);
    l->seen = l->rest;
    if (buffer_length(&l->bytes) == 0) buffer_clear(&l->bytes);
}

/* Judges again what was to go on. */
static inline void lane_rejudge(struct lane *l) {
    lane_settle(l);
    l->held = l->whole;
    l->whole = l->rest = l->seen = 0;
}

#endif
