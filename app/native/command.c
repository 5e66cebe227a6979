#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "engine-link.h"

#define NO_ENGINE 3
#define WELCOME_MS 10000
#define MAX_FRAME_HEAD 32

static int sorry(const char *sentence) {
    fprintf(stderr, "belfry-mcp: %s\n", sentence);
    return NO_ENGINE;
}

static const char went_away[] = "The engine went away before it answered.";
static const char not_understood[] = "Belfry's answer was not understood. Update Belfry and try again.";

static bool write_all(int fd, const char *bytes, size_t count) {
    while (count) {
        ssize_t sent = write(fd, bytes, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) {
            /* A descriptor that somebody else made non-blocking. */
            struct pollfd room = {fd, POLLOUT, 0};
            poll(&room, 1, -1);
            continue;
        }
        if (sent <= 0) return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* False at the end of the stream; what came before an error counts. */
static bool read_more(int fd, struct buffer *in) {
    ssize_t got;
    do got = read(fd, buffer_room(in, 16384), 16384);
    while (got < 0 && errno == EINTR);
    if (got > 0) in->to += (size_t)got;
    return got > 0;
}

/* `<letter> <decimal number>`, nothing else. */
static bool parse_head(const char *head, size_t length, uint64_t *number) {
    if (length < 3 || length > 20 || head[1] != ' ') return false;
    *number = 0;
    for (size_t i = 2; i < length; i++) {
        if (head[i] < '0' || head[i] > '9') return false;
        *number = *number * 10 + (uint64_t)(head[i] - '0');
    }
    return true;
}

/* Frames: `o|e <length>\n<bytes>` to stdout and stderr, `x <code>\n` at the end. */
static int pass_frames(int fd, struct buffer *in) {
    uint64_t left = 0;
    int target = STDOUT_FILENO;
    for (;;) {
        while (left && buffer_length(in)) {
            size_t count = buffer_length(in) < left ? buffer_length(in) : (size_t)left;
            /* Whoever reads has seen enough: `| head` is no fault. */
            if (!write_all(target, buffer_head(in), count)) return 0;
            buffer_take(in, count);
            left -= count;
        }
        char *head = buffer_length(in) ? buffer_head(in) : NULL;
        char *stop = head ? memchr(head, '\n', buffer_length(in)) : NULL;
        if (!left && stop) {
            uint64_t number;
            if (!parse_head(head, (size_t)(stop - head), &number)) return sorry(not_understood);
            if (*head == 'x') return number <= 255 ? (int)number : sorry(not_understood);
            if (*head != 'o' && *head != 'e') return sorry(not_understood);
            target = *head == 'e' ? STDERR_FILENO : STDOUT_FILENO;
            left = number;
            buffer_take(in, (size_t)(stop - head) + 1);
            continue;
        }
        if (!left && buffer_length(in) > MAX_FRAME_HEAD) return sorry(not_understood);
        if (!read_more(fd, in)) return sorry(went_away);
    }
}

/* Reads up to the welcome's newline. */
static bool read_welcome(int fd, struct buffer *in, size_t *length) {
    for (;;) {
        char *stop = buffer_length(in) ? memchr(buffer_head(in), '\n', buffer_length(in)) : NULL;
        if (stop) {
            *length = (size_t)(stop - buffer_head(in));
            return true;
        }
        if (buffer_length(in) > MAX_WELCOME) return false;
        struct pollfd wait = {fd, POLLIN, 0};
        int ready;
        do ready = poll(&wait, 1, WELCOME_MS);
        while (ready < 0 && errno == EINTR);
        if (ready <= 0 || !read_more(fd, in)) return false;
    }
}

int run_command(const char *socket_path, int argc, char **argv) {
    char sentence[512];
    int fd = link_connect(socket_path, false, sentence, sizeof sentence);
    if (fd < 0) return sorry(sentence);
    struct buffer hello = {0}, in = {0};
    link_hello_command(argc, argv, &hello);
    /* Refused in the middle of a long first line, there is still a sentence to read. */
    write_all(fd, buffer_head(&hello), buffer_length(&hello));
    size_t length;
    if (!read_welcome(fd, &in, &length)) return sorry("Belfry does not answer. Quit and open it, then try again.");
    if (!link_welcome(buffer_head(&in), length, sentence, sizeof sentence)) return sorry(sentence);
    buffer_take(&in, length + 1);
    return pass_frames(fd, &in);
}
