#include "json-text.h"

#include <stdlib.h>
#include <string.h>

/* Walks the characters of a JSON string: bytes as they stand, escapes as the UTF-8 that they mean. */
struct walker {
    const char *at, *end;
    unsigned char pending[4];
    int pending_count, pending_next;
};

static struct walker walk(const char *json, size_t length) {
    return (struct walker){.at = json + 1, .end = json + length - 1};
}

static unsigned hex4(const char *s) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)s[i];
        value = value * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

static void put_utf8(struct walker *w, unsigned c) {
    w->pending_next = 0;
    if (c < 0x80) {
        w->pending[0] = (unsigned char)c;
        w->pending_count = 1;
    } else if (c < 0x800) {
        w->pending[0] = (unsigned char)(0xc0 | c >> 6);
        w->pending[1] = (unsigned char)(0x80 | (c & 63));
        w->pending_count = 2;
    } else if (c < 0x10000) {
        w->pending[0] = (unsigned char)(0xe0 | c >> 12);
        w->pending[1] = (unsigned char)(0x80 | (c >> 6 & 63));
        w->pending[2] = (unsigned char)(0x80 | (c & 63));
        w->pending_count = 3;
    } else {
        w->pending[0] = (unsigned char)(0xf0 | c >> 18);
        w->pending[1] = (unsigned char)(0x80 | (c >> 12 & 63));
        w->pending[2] = (unsigned char)(0x80 | (c >> 6 & 63));
        w->pending[3] = (unsigned char)(0x80 | (c & 63));
        w->pending_count = 4;
    }
}

/* The next byte, or -1 at the end. */
static int next_byte(struct walker *w) {
    if (w->pending_next < w->pending_count) return w->pending[w->pending_next++];
    if (w->at >= w->end) return -1;
    if (*w->at != '\\') return (unsigned char)*w->at++;
    char c = w->at[1];
    if (c != 'u') {
        w->at += 2;
        switch (c) {
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            default: return c;
        }
    }
    unsigned unit = hex4(w->at + 2);
    w->at += 6;
    if (unit >= 0xd800 && unit < 0xdc00 && w->end - w->at >= 6 && w->at[0] == '\\' && w->at[1] == 'u') {
        unsigned low = hex4(w->at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            w->at += 6;
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    put_utf8(w, unit);
    return w->pending[w->pending_next++];
}

bool json_string_is(const char *json, size_t length, const char *plain) {
    if (length < 2 || json[0] != '"') return false;
    struct walker w = walk(json, length);
    for (;; plain++) {
        int c = next_byte(&w);
        if (c < 0) return *plain == '\0';
        if (c != (unsigned char)*plain || c == 0) return false;
    }
}

static bool same_string(const char *a, size_t a_length, const char *b, size_t b_length) {
    struct walker x = walk(a, a_length), y = walk(b, b_length);
    for (;;) {
        int c = next_byte(&x);
        if (c != next_byte(&y)) return false;
        if (c < 0) return true;
    }
}

/* Longer numbers are compared as text only: strtod needs a copy that ends in a zero. */
#define LONGEST_NUMBER 48

static bool number_of(const char *json, size_t length, double *out) {
    char copy[LONGEST_NUMBER];
    if (length == 0 || length >= sizeof copy || (json[0] != '-' && (json[0] < '0' || json[0] > '9'))) return false;
    memcpy(copy, json, length);
    copy[length] = '\0';
    *out = strtod(copy, NULL);
    return true;
}

bool json_equal(const char *a, size_t a_length, const char *b, size_t b_length) {
    if (a_length == b_length && memcmp(a, b, a_length) == 0) return true;
    if (a_length == 0 || b_length == 0 || (a[0] == '"') != (b[0] == '"')) return false;
    if (a[0] == '"') return same_string(a, a_length, b, b_length);
    double x, y;
    return number_of(a, a_length, &x) && number_of(b, b_length, &y) && !(x < y) && !(x > y);
}

bool json_is_id(const char *json, size_t length) {
    if (length == 0) return false;
    if (json[0] == '"') return true;
    double value;
    if (!number_of(json, length, &value) || !(value >= -9007199254740991.0 && value <= 9007199254740991.0)) return false;
    double whole = (double)(long long)value;
    return !(whole < value) && !(whole > value);
}

/* Bytes of the UTF-8 character at `s`, or 0 where there is none. */
static size_t utf8_length(const unsigned char *s, size_t left) {
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : s[0] >= 0xe0 && s[0] <= 0xef ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
    return n;
}

void json_add_string(struct buffer *out, const char *text, size_t length) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;
    buffer_text(out, "\"");
    for (size_t i = 0; i < length;) {
        size_t n = utf8_length(s + i, length - i);
        if (n == 0) {
            buffer_text(out, "\xef\xbf\xbd");
            n = 1;
        } else if (s[i] == '"' || s[i] == '\\') {
            const char escaped[2] = {'\\', (char)s[i]};
            buffer_add(out, escaped, sizeof escaped);
        } else if (s[i] < 0x20 || s[i] == 0x7f) {
            const char escaped[6] = {'\\', 'u', '0', '0', digits[s[i] >> 4], digits[s[i] & 15]};
            buffer_add(out, escaped, sizeof escaped);
        } else {
            buffer_add(out, text + i, n);
        }
        i += n;
    }
    buffer_text(out, "\"");
}
