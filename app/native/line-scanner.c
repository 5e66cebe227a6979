#include "line-scanner.h"

#include <stdint.h>
#include <string.h>

#include "json-text.h"

#define MAX_KINDS 1024

/* Every reader below returns the position behind what it read; this where the text is not JSON or is cut. */
#define BROKEN SIZE_MAX

struct text {
    const char *s;
    size_t length;
};

static size_t skip_space(struct text t, size_t at) {
    while (at < t.length && (t.s[at] == ' ' || t.s[at] == '\t' || t.s[at] == '\r' || t.s[at] == '\n')) at++;
    return at;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t read_string(struct text t, size_t at) {
    for (at++; at < t.length; at++) {
        unsigned char c = (unsigned char)t.s[at];
        if (c == '"') return at + 1;
        if (c < 0x20) return BROKEN;
        if (c != '\\') continue;
        if (++at >= t.length) return BROKEN;
        if (t.s[at] == 'u') {
            for (int i = 0; i < 4; i++) {
                if (++at >= t.length || !is_hex(t.s[at])) return BROKEN;
            }
        } else if (t.s[at] == '\0' || !strchr("\"\\/bfnrt", t.s[at])) {
            return BROKEN;
        }
    }
    return BROKEN;
}

static size_t read_digits(struct text t, size_t at) {
    size_t from = at;
    while (at < t.length && t.s[at] >= '0' && t.s[at] <= '9') at++;
    return at == from ? BROKEN : at;
}

static size_t read_number(struct text t, size_t at) {
    if (t.s[at] == '-') at++;
    if (at < t.length && t.s[at] == '0') at++;
    else if ((at = read_digits(t, at)) == BROKEN) return BROKEN;
    if (at < t.length && t.s[at] == '.' && (at = read_digits(t, at + 1)) == BROKEN) return BROKEN;
    if (at < t.length && (t.s[at] == 'e' || t.s[at] == 'E')) {
        at++;
        if (at < t.length && (t.s[at] == '+' || t.s[at] == '-')) at++;
        at = read_digits(t, at);
    }
    /* At the very end it may be cut: more digits could follow. */
    return at == t.length ? BROKEN : at;
}

static size_t read_word(struct text t, size_t at, const char *word) {
    size_t n = strlen(word);
    return t.length - at >= n && memcmp(t.s + at, word, n) == 0 ? at + n : BROKEN;
}

static size_t read_scalar(struct text t, size_t at) {
    switch (t.s[at]) {
        case '"': return read_string(t, at);
        case 't': return read_word(t, at, "true");
        case 'f': return read_word(t, at, "false");
        case 'n': return read_word(t, at, "null");
        default: return read_number(t, at);
    }
}

/* The key of a member and its colon; `key` gets the key with its quotes. */
static size_t read_key(struct text t, size_t at, struct span *key) {
    at = skip_space(t, at);
    if (at >= t.length || t.s[at] != '"') return BROKEN;
    size_t end = read_string(t, at);
    if (end == BROKEN) return BROKEN;
    if (key) *key = (struct span){at, end - at};
    at = skip_space(t, end);
    return at < t.length && t.s[at] == ':' ? skip_space(t, at + 1) : BROKEN;
}

/* One value of any depth. `array` holds one bit a level: which bracket has to close it. */
static size_t read_value(struct text t, size_t at) {
    uint8_t array[MAX_KINDS / 8];
    size_t depth = 0;
    for (;;) {
        at = skip_space(t, at);
        if (at >= t.length) return BROKEN;
        char c = t.s[at];
        if (c == '{' || c == '[') {
            if (depth < MAX_KINDS) {
                uint8_t bit = (uint8_t)(1u << (depth % 8));
                array[depth / 8] = (uint8_t)(c == '[' ? array[depth / 8] | bit : array[depth / 8] & ~bit);
            }
            depth++;
            at = skip_space(t, at + 1);
            if (at >= t.length) return BROKEN;
            if (t.s[at] != (c == '{' ? '}' : ']')) {
                if (c == '{' && (at = read_key(t, at, NULL)) == BROKEN) return BROKEN;
                continue;
            }
        } else {
            at = read_scalar(t, at);
            if (at == BROKEN) return BROKEN;
            if (depth == 0) return at;
            at = skip_space(t, at);
        }
        /* Behind a value or at the closing bracket of an empty one: close levels, then go on behind a comma. */
        for (;;) {
            if (at >= t.length) return BROKEN;
            c = t.s[at];
            bool kind_known = depth <= MAX_KINDS;
            bool in_array = kind_known && (array[(depth - 1) / 8] >> ((depth - 1) % 8) & 1);
            if (c == ',') {
                at = skip_space(t, at + 1);
                if (at >= t.length) return BROKEN;
                if (!kind_known) {
                    /* Array or object: a string with a colon behind it can only be a key. */
                    size_t value = t.s[at] == '"' ? read_key(t, at, NULL) : BROKEN;
                    if (value != BROKEN) at = value;
                } else if (!in_array && (at = read_key(t, at, NULL)) == BROKEN) {
                    return BROKEN;
                }
                break;
            }
            if (c != '}' && c != ']') return BROKEN;
            if (kind_known && c != (in_array ? ']' : '}')) return BROKEN;
            at++;
            if (--depth == 0) return at;
            at = skip_space(t, at);
        }
    }
}

static bool key_is(struct text t, struct span key, const char *name) {
    return json_string_is(t.s + key.start, key.length, name);
}

/* Reads `"key": value` at `at`; `*next` is at the comma or the closing bracket. */
static bool read_member(struct text t, size_t at, struct span *key, struct span *value, size_t *next) {
    size_t start = read_key(t, at, key);
    if (start == BROKEN) return false;
    size_t end = read_value(t, start);
    if (end == BROKEN) return false;
    *value = (struct span){start, end - start};
    *next = skip_space(t, end);
    return *next < t.length && (t.s[*next] == ',' || t.s[*next] == '}');
}

/* `object` was read once, so that it is known to be well formed. */
static void scan_params(struct text t, struct span object, struct scanned_line *out) {
    out->request_id = out->uri = (struct span){0, 0};
    size_t at = object.start;
    if (t.s[at] != '{') return;
    struct span key, value;
    while (read_member(t, at + 1, &key, &value, &at)) {
        if (key_is(t, key, "requestId")) out->request_id = value;
        else if (key_is(t, key, "uri")) out->uri = value;
        if (t.s[at] == '}') return;
    }
}

static bool scan_members(struct text t, struct scanned_line *out, struct span *params) {
    size_t at = skip_space(t, 0);
    if (at >= t.length || t.s[at] != '{') return false;
    size_t first = skip_space(t, at + 1);
    if (first < t.length && t.s[first] == '}') return skip_space(t, first + 1) == t.length;
    struct span key, value;
    while (read_member(t, at + 1, &key, &value, &at)) {
        if (key_is(t, key, "id")) out->id = value;
        else if (key_is(t, key, "method")) out->method = value;
        else if (key_is(t, key, "params")) *params = value;
        else if (key_is(t, key, "result")) out->has_result = true;
        else if (key_is(t, key, "error")) out->has_error = true;
        if (t.s[at] == '}') return skip_space(t, at + 1) == t.length;
    }
    return false;
}

bool scan_line(const char *line, size_t length, struct scanned_line *out) {
    memset(out, 0, sizeof *out);
    struct text t = {line, length};
    struct span params = {0, 0};
    bool whole = scan_members(t, out, &params);
    if (!whole) return false;
    if (params.length) scan_params(t, params, out);
    if (out->method.length) {
        if (line[out->method.start] == '"') out->kind = out->id.length ? LINE_REQUEST : LINE_NOTIFICATION;
    } else if (out->id.length && (out->has_result || out->has_error)) {
        out->kind = LINE_RESPONSE;
    }
    return true;
}
