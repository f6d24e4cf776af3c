/* cmd_convert.c - rlar convert: any format that can be read into any that can be written. */
#include "cli.h"

int cli_cmd_convert(cli *c) {
    cli_data data = {0};
    const char *to = c->args.word[1];
    int code = cli_check(c, rlar_write_check(c->ctx, to, NULL));
    if (code == 0)
        code = cli_out_probe(c, to);
    if (code == 0)
        code = cli_data_load(c, c->args.word[0], (rlar_missing)c->args.missing, &data);
    if (code == 0)
        code = cli_check(c, rlar_data_write(c->ctx, data.data, to, NULL));
    if (code == 0)
        cli_note(c, "wrote %s: %lld samples, %lld features, %lld classes", to,
                 (long long)rlar_data_samples(data.data), (long long)rlar_data_dims(data.data),
                 (long long)rlar_data_classes(data.data));
    cli_data_free(&data);
    return code;
}
