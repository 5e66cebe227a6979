/* belfry-mcp: reads its arguments and becomes a relay or a command. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>

#include "engine-link.h"

#define MAX_SOCKET_PATH 103

static const char usage[] =
    "belfry-mcp [--client=LABEL] [--channel] [--socket PATH]   MCP over stdio, for AI clients\n"
    "belfry-mcp [--socket PATH] COMMAND ...                    a belfry command, run by the engine\n"
    "belfry-mcp --help | --version\n";

static const char hint[] =
    "belfry-mcp speaks MCP over stdio and is meant to be started by an AI client.\n"
    "For Claude Code: claude mcp add --scope user --transport stdio belfry -- <path of belfry-mcp> --client=claude-code\n"
    "For commands: belfry-mcp --help\n";

static int wrong_use(const char *sentence, const char *detail) {
    fprintf(stderr, "belfry-mcp: %s%s\n", sentence, detail);
    return 3;
}

/* Frames of a command: `o|e <length>\n<bytes>`, `x <code>\n`. */
int run_command(const struct link *link, int argc, char **argv) {
    char sentence[256];
    int fd = link_connect(link, sentence, sizeof sentence);
    if (fd < 0) return wrong_use(sentence, "");
    struct buffer hello = {0}, in = {0};
    link_hello_command(argc, argv, &hello);
    while (buffer_length(&hello)) {
        ssize_t sent = write(fd, buffer_head(&hello), buffer_length(&hello));
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return wrong_use("the engine went away before it answered.", "");
        buffer_take(&hello, (size_t)sent);
    }
    bool greeted = false;
    for (;;) {
        ssize_t got = read(fd, buffer_room(&in, 65536), 65536);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return wrong_use("the engine went away before it answered.", "");
        in.to += (size_t)got;
        for (;;) {
            char *head = buffer_head(&in), *stop = memchr(head, '\n', buffer_length(&in));
            if (!stop) break;
            size_t line = (size_t)(stop - head);
            if (!greeted) {
                if (line < 2 || memcmp(head, "ok", 2) != 0) {
                    size_t skip = line > 6 && memcmp(head, "error ", 6) == 0 ? 6 : 0;
                    fprintf(stderr, "belfry-mcp: %.*s\n", (int)(line - skip), head + skip);
                    return 3;
                }
                greeted = true;
                buffer_take(&in, line + 1);
                continue;
            }
            *stop = '\0';
            unsigned long count = strtoul(line > 2 ? head + 2 : "0", NULL, 10);
            if (*head == 'x') return (int)(count & 255);
            if (buffer_length(&in) < line + 1 + count) {
                *stop = '\n';
                break;
            }
            FILE *target = *head == 'e' ? stderr : stdout;
            fwrite(stop + 1, 1, count, target);
            fflush(target);
            buffer_take(&in, line + 1 + count);
        }
    }
}

static const char *default_socket(void) {
    static char path[4096];
    const char *home = getenv("HOME");
#ifdef __APPLE__
    snprintf(path, sizeof path, "%s/Library/Application Support/Belfry/run/engine.sock", home ? home : "");
#else
    const char *data = getenv("XDG_DATA_HOME");
    if (data && *data) snprintf(path, sizeof path, "%s/belfry/run/engine.sock", data);
    else snprintf(path, sizeof path, "%s/.local/share/belfry/run/engine.sock", home ? home : "");
#endif
    return path;
}

int main(int argc, char **argv) {
    struct link link = {NULL, NULL, false};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *a = argv[i];
        if (strcmp(a, "--version") == 0) return printf("belfry-mcp %s\n", BELFRY_VERSION) < 0;
        if (strcmp(a, "--help") == 0) return fputs(usage, stdout) < 0;
        if (strncmp(a, "--client=", 9) == 0) link.label = a + 9;
        else if (strcmp(a, "--channel") == 0) link.channel = true;
        else if (strncmp(a, "--socket=", 9) == 0) link.socket_path = a + 9;
        else if (strcmp(a, "--socket") == 0) {
            if (++i == argc) return wrong_use("--socket needs a path.", "");
            link.socket_path = argv[i];
        } else return wrong_use("unknown option ", a);
    }
    bool command = i < argc;
    if (!link.socket_path) link.socket_path = default_socket();
    if (strlen(link.socket_path) > MAX_SOCKET_PATH) {
        fprintf(stderr, "belfry-mcp: The socket path is %zu bytes long and may have at most %d: choose a shorter data folder.\n", strlen(link.socket_path), MAX_SOCKET_PATH);
        return command ? 3 : 69;
    }
    signal(SIGPIPE, SIG_IGN);
    if (command) return run_command(&link, argc - i, argv + i);
    if (isatty(STDIN_FILENO)) fputs(hint, stderr);
    return relay(&link);
}
