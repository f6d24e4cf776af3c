/* sanitize.h - what the sanitizers cannot know by themselves; nothing without them. */
#ifndef RLAR_SANITIZE_H
#define RLAR_SANITIZE_H

#if defined(__has_feature)
#define RLAR_HAS_FEATURE(name) __has_feature(name)
#else
#define RLAR_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || RLAR_HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define RLAR_OFF_LIMITS(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define RLAR_IN_REACH(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
/* Between pieces of memory: nobody may read or write there, and again everybody may. */
#define RLAR_OFF_LIMITS(memory, bytes) ((void)(memory), (void)(bytes))
#define RLAR_IN_REACH(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#if RLAR_HAS_FEATURE(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define RLAR_NO_VALUE(memory, bytes) __msan_allocated_memory(memory, bytes)
#else
/* Memory of ours is without a value until we write it, whatever allocator it came from. */
#define RLAR_NO_VALUE(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#ifdef RLAR_FUZZING
#define RLAR_BUFFER(bytes) ((bytes) / 64)
#define RLAR_UNSTEERED __attribute__((no_sanitize("coverage")))
#else
/* A buffer between a file and us. Small where small inputs are to cross its ends. */
#define RLAR_BUFFER(bytes) (bytes)
/* Arithmetic on all bytes alike: it does not tell a fuzzer where to go, and counting it takes
 * longer than doing it. */
#define RLAR_UNSTEERED
#endif

#endif
