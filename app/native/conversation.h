/*
 * What the shim keeps of the talk between client and engine: ids that wait for an answer, and the few lines that
 * a fresh engine must be told again. Everything has a bound; nothing here does input or output.
 */
#ifndef BELFRY_CONVERSATION_H
#define BELFRY_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"
#include "line-scanner.h"

#define MAX_IN_FLIGHT 1024            /* requests that wait for an answer */
#define MAX_ID_BYTES 1024             /* of one id */
#define MAX_SUBSCRIPTIONS 128         /* resources told again to a fresh engine */
#define MAX_REPLAY_BYTES (64 * 1024)  /* of all lines that are told again, and of all ids that wait */

struct conversation;

struct conversation *conversation_new(void);

/* Why a request cannot be passed on: a sentence for its answer, or NULL. */
const char *conversation_refusal(const struct conversation *c, const char *line, const struct scanned_line *scanned);

/* A line of the client that goes to the engine now. */
void conversation_client_line(struct conversation *c, const char *line, size_t length, const struct scanned_line *scanned);

/* False where the line answers a replay, which no client waits for. */
bool conversation_engine_line(struct conversation *c, const char *line, const struct scanned_line *scanned);

/* The engine is gone: calls `answer` for each id that waited, and forgets it. */
void conversation_lost(struct conversation *c, void (*answer)(void *context, const char *id, size_t length), void *context);

/* Adds the lines that a fresh engine must hear first; nothing on a connection without `initialize`. */
void conversation_replay(struct conversation *c, struct buffer *out);

#endif
