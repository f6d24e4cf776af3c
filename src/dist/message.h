/* message.h - values in a row, sent to another rank in one piece. */
#ifndef RLAR_MESSAGE_H
#define RLAR_MESSAGE_H

#include "dist/team.h"

/* Zero-initialise; free with rlar__message_free. What is in it has one description for both ends:
 * the same calls write the values, or read them once the message was received. */
typedef struct rlar_message {
    char *bytes;
    int64_t used, capacity;
    int64_t at;   /* where reading is */
    bool reading; /* set by receiving */
} rlar_message;

/* Empty, for writing. What it had room for it still has. */
void rlar__message_begin(rlar_message *message);
rlar_status rlar__message_carry(rlar_ctx *ctx, rlar_message *message, void *bytes, size_t count);
/* A text, or NULL; a text that was read is freed by rlar__free. */
rlar_status rlar__message_carry_text(rlar_ctx *ctx, rlar_message *message, char **text);
rlar_status rlar__message_send(rlar_ctx *ctx, int to, const rlar_message *message);
rlar_status rlar__message_receive(rlar_ctx *ctx, int from, rlar_message *message);
void rlar__message_free(rlar_message *message);

#endif
