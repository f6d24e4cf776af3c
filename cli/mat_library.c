/* mat_library.c - opens matio when the first .mat file is read.
 *
 * matio brings HDF5 and, through it, some thirty libraries of networks and ciphers, whose loading
 * takes several times as long as all the rest of a short command. So it is not linked but opened by
 * the name that it had when this program was built; where the build could not tell the name, it is
 * linked after all. */
#include <dlfcn.h>
#include <string.h>

#include "mat.h"

#ifdef RLAR_MATIO

/* dlsym answers an object pointer; ISO C has no cast from it to a function pointer. */
static bool find(void *handle, const char *name, void *function) {
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* It stays in memory: HDF5 wants to clean up when the program ends. */
static bool take(cli_matio *out) {
    void *handle = dlopen(RLAR_MATIO, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    return handle != NULL && find(handle, "Mat_Open", &out->open) &&
           find(handle, "Mat_Close", &out->close) && find(handle, "Mat_GetDir", &out->get_dir) &&
           find(handle, "Mat_VarReadInfo", &out->read_info) &&
           find(handle, "Mat_VarRead", &out->read) && find(handle, "Mat_VarFree", &out->release);
}

#else

static bool take(cli_matio *out) {
    *out = (cli_matio){Mat_Open, Mat_Close, Mat_GetDir, Mat_VarReadInfo, Mat_VarRead, Mat_VarFree};
    return true;
}

#endif

bool cli_matio_present(void) {
    cli_matio any;
    return take(&any);
}

int cli_matio_open(cli *c, const char *path, cli_matio *out) {
    if (take(out))
        return 0;
    const char *why = dlerror();
    return cli_error(
        c, CODE_FAILED,
        "%s: MATLAB files need the library matio, which cannot be opened (%s); install "
        "it (apt-get install libmatio11) or convert the file elsewhere",
        path, why != NULL ? why : "a function is missing");
}
