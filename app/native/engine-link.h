/* How to reach the engine, whom to trust there, and what to say first. */
#ifndef BELFRY_ENGINE_LINK_H
#define BELFRY_ENGINE_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

/* `sun_path` holds 104 bytes on macOS, one of them the final zero. */
#define MAX_SOCKET_PATH 103

#define NOT_RUNNING "Belfry is not running. Open Belfry and try again."

/* Where the data folder's socket lies, or false where no home folder is known. */
bool link_default_socket(char *path, size_t size);

/* A connected socket whose other end is ours to trust, or -1 with a sentence. Does not wait if `nonblocking`. */
int link_connect(const char *socket_path, bool nonblocking, char *sentence, size_t size);

/* First lines, both ending in a newline. `label` may be NULL. */
void link_hello_mcp(const char *label, bool channel, struct buffer *out);
void link_hello_command(int argc, char **argv, struct buffer *out);

/*
 * The engine's first line, without its newline. True for `ok`; else `sentence` says why not.
 * Text behind `ok ` is for later versions.
 */
bool link_welcome(const char *line, size_t length, char *sentence, size_t size);
/* No welcome is longer; what is, does not come from an engine. */
#define MAX_WELCOME 4096

/* On macOS: opens the app that this helper lies in, in the background. Elsewhere: nothing. */
void link_open_app(void);

#endif
