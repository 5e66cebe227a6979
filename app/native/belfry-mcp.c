/*
 * belfry-mcp: what MCP clients start. It relays whole lines between the client's stdio and the engine's unix
 * socket and keeps the client when the engine goes away, or has the engine run a command. It opens no store, and
 * of a line it looks at ids and methods only.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "engine-link.h"
#include "relay.h"

#define WRONG_USE 3
#define UNAVAILABLE 69

static const char usage[] =
    "belfry-mcp [--client=LABEL] [--channel] [--socket PATH]   MCP over stdio, for AI clients\n"
    "belfry-mcp [--socket PATH] COMMAND ...                    a belfry command, run by the engine\n"
    "belfry-mcp --help | --version\n";

static void hint(const char *self) {
    fprintf(stderr,
            "belfry-mcp speaks MCP over stdio: AI clients start it, and it waits for one now.\n"
            "To add it to Claude Code: claude mcp add --scope user belfry -- \"%s\" --client=claude-code --channel\n"
            "For commands: belfry-mcp --help\n",
            self);
}

static int wrong_use(const char *sentence, const char *detail) {
    fprintf(stderr, "belfry-mcp: %s%s\n", sentence, detail);
    return WRONG_USE;
}

static int say(const char *text) { return fputs(text, stdout) < 0 || fflush(stdout) != 0; }

int main(int argc, char **argv) {
    struct relay_options options = {NULL, NULL, false};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *a = argv[i];
        if (strcmp(a, "--version") == 0) return say("belfry-mcp " BELFRY_VERSION "\n");
        if (strcmp(a, "--help") == 0) return say(usage);
        if (strncmp(a, "--client=", 9) == 0) options.label = a + 9;
        else if (strcmp(a, "--channel") == 0) options.channel = true;
        else if (strncmp(a, "--socket=", 9) == 0) options.socket_path = a + 9;
        else if (strcmp(a, "--socket") == 0 && i + 1 < argc) options.socket_path = argv[++i];
        else if (strcmp(a, "--socket") == 0) return wrong_use("--socket needs a path.", "");
        else return wrong_use("unknown option ", a);
    }
    bool command = i < argc;
    int failed = command ? WRONG_USE : UNAVAILABLE;
    static char standard[4096];
    if (!options.socket_path) {
        if (!link_default_socket(standard, sizeof standard)) {
            fprintf(stderr, "belfry-mcp: No home folder is known, so name the engine's socket with --socket.\n");
            return failed;
        }
        options.socket_path = standard;
    }
    size_t length = strlen(options.socket_path);
    if (length > MAX_SOCKET_PATH) {
        fprintf(stderr, "belfry-mcp: The socket path is %zu bytes long and may have at most %d: choose a shorter data folder.\n", length, MAX_SOCKET_PATH);
        return failed;
    }
    signal(SIGPIPE, SIG_IGN);
    if (command) return run_command(options.socket_path, argc - i, argv + i);
    if (isatty(STDIN_FILENO)) hint(argv[0]);
    return relay(&options);
}
