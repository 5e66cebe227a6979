/* A growing byte buffer that is read from the front. */
#ifndef BELFRY_BUFFER_H
#define BELFRY_BUFFER_H

#include <stdlib.h>
#include <string.h>

struct buffer {
    char *data;
    size_t from, to, capacity;
};

static inline size_t buffer_length(const struct buffer *b) { return b->to - b->from; }
static inline char *buffer_head(const struct buffer *b) { return b->data + b->from; }

/* Room for `more` bytes behind the end. Memory that cannot be had ends the program: there is nothing to save. */
static inline char *buffer_room(struct buffer *b, size_t more) {
    if (b->to + more > b->capacity && b->from > 0) {
        memmove(b->data, b->data + b->from, b->to - b->from);
        b->to -= b->from;
        b->from = 0;
    }
    if (b->to + more > b->capacity) {
        size_t capacity = b->capacity ? b->capacity : 4096;
        while (capacity < b->to + more) capacity *= 2;
        char *data = realloc(b->data, capacity);
        if (!data) abort();
        b->data = data;
        b->capacity = capacity;
    }
    return b->data + b->to;
}

static inline void buffer_add(struct buffer *b, const char *bytes, size_t count) {
    if (count == 0) return;
    memcpy(buffer_room(b, count), bytes, count);
    b->to += count;
}

static inline void buffer_text(struct buffer *b, const char *text) { buffer_add(b, text, strlen(text)); }

/* Drops `count` bytes from the front; memory of a rare large line goes back. */
static inline void buffer_take(struct buffer *b, size_t count) {
    b->from += count;
    if (b->from < b->to) return;
    b->from = b->to = 0;
    if (b->capacity > 256 * 1024) {
        free(b->data);
        b->data = NULL;
        b->capacity = 0;
    }
}

static inline void buffer_clear(struct buffer *b) { buffer_take(b, buffer_length(b)); }

#endif
