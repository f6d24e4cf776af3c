/* message.c - values in a row: the length goes first, then the bytes, in pieces for which there is
 * room even where there is none for the whole: such a message is heard to its end and refused. */
#include "dist/message.h"

#include <string.h>

enum { PIECE_BYTES = 4096 };

void rlar__message_begin(rlar_message *message) {
    message->used = message->at = 0;
    message->reading = false;
}

static rlar_status make_room(rlar_ctx *ctx, rlar_message *m, int64_t bytes) {
    return rlar__grow(ctx, &m->bytes, &m->capacity, bytes, 1, "a message to another rank");
}

static rlar_status append(rlar_ctx *ctx, rlar_message *m, const void *bytes, size_t count) {
    RLAR_TRY(make_room(ctx, m, m->used + (int64_t)count));
    memcpy(m->bytes + m->used, bytes, count);
    m->used += (int64_t)count;
    return RLAR_OK;
}

static rlar_status take(rlar_ctx *ctx, rlar_message *m, void *bytes, size_t count) {
    if (count > (size_t)(m->used - m->at))
        return rlar__fail(ctx, RLAR_E_IO,
                          "a message from another rank ends after %lld bytes; do all ranks run the "
                          "same version?",
                          (long long)m->used);
    memcpy(bytes, m->bytes + m->at, count);
    m->at += (int64_t)count;
    return RLAR_OK;
}

rlar_status rlar__message_carry(rlar_ctx *ctx, rlar_message *message, void *bytes, size_t count) {
    if (count == 0)
        return RLAR_OK;
    return message->reading ? take(ctx, message, bytes, count) : append(ctx, message, bytes, count);
}

rlar_status rlar__message_carry_text(rlar_ctx *ctx, rlar_message *message, char **text) {
    int64_t size = !message->reading && *text ? (int64_t)strlen(*text) + 1 : 0;
    RLAR_TRY(rlar__message_carry(ctx, message, &size, sizeof size));
    if (message->reading && (size < 0 || size > message->used - message->at))
        return rlar__fail(ctx, RLAR_E_IO, "a text from another rank has %lld bytes",
                          (long long)size);
    if (message->reading)
        RLAR_TRY(rlar__alloc(ctx, size, 1, "the text", text));
    RLAR_TRY(rlar__message_carry(ctx, message, *text, (size_t)size));
    if (size > 0)
        (*text)[size - 1] = '\0';
    return RLAR_OK;
}

static int64_t piece_at(int64_t size, int64_t done) {
    return size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
}

rlar_status rlar__message_send(rlar_ctx *ctx, int to, const rlar_message *message) {
    RLAR_TRY(rlar__team_send(ctx, to, &message->used, sizeof message->used));
    for (int64_t done = 0; done < message->used; done += piece_at(message->used, done))
        RLAR_TRY(
            rlar__team_send(ctx, to, message->bytes + done, (size_t)piece_at(message->used, done)));
    return RLAR_OK;
}

rlar_status rlar__message_receive(rlar_ctx *ctx, int from, rlar_message *message) {
    char unheard[PIECE_BYTES];
    int64_t size = 0;
    rlar__message_begin(message);
    RLAR_TRY(rlar__team_receive(ctx, from, &size, sizeof size));
    const rlar_status status = make_room(ctx, message, size);
    for (int64_t done = 0; done < size; done += piece_at(size, done))
        RLAR_TRY(rlar__team_receive(ctx, from, status < 0 ? unheard : message->bytes + done,
                                    (size_t)piece_at(size, done)));
    message->used = status < 0 ? 0 : size;
    message->reading = true;
    return status;
}

void rlar__message_free(rlar_message *message) {
    rlar__free(message->bytes);
    *message = (rlar_message){0};
}
