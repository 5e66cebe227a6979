#ifndef BELFRY_FILE_ATTRIBUTE_H
#define BELFRY_FILE_ATTRIBUTE_H

#include <node_api.h>

/* setFileAttribute(fd, name, value): true if the open file has it now. On Linux its name begins with `user.` */
napi_value set_file_attribute(napi_env env, napi_callback_info info);

#endif
