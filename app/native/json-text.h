/* JSON values as text: compared without being built, and strings written. */
#ifndef BELFRY_JSON_TEXT_H
#define BELFRY_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

/* `json` is a well-formed JSON string with its quotes; `plain` is ASCII. */
bool json_string_is(const char *json, size_t length, const char *plain);

/*
 * Whether two well-formed strings or numbers are one value: an engine may write "\u0061" as "a" and 1.0 as 1.
 * Values of other types are equal only as text.
 */
bool json_equal(const char *a, size_t a_length, const char *b, size_t b_length);

/* Can an answer carry this id? Strings and safe integers (JSON-RPC over MCP). */
bool json_is_id(const char *json, size_t length);

/* As a JSON string. What is not UTF-8 becomes U+FFFD: an argument may hold any bytes, JSON may not. */
void json_add_string(struct buffer *out, const char *text, size_t length);

#endif
