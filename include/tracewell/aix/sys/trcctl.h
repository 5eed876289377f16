/* Control of tracing from a program, under AIX's names. Each starts the program `tracewell`, found
 * in PATH or named by the variable TRACEWELL, and waits for it. */
#ifndef TRACEWELL_AIX_SYS_TRCCTL_H
#define TRACEWELL_AIX_SYS_TRCCTL_H

#ifdef __cplusplus
extern "C" {
#endif

/* `arguments` as of the command trace; -a is implied. Blanks separate them; quotes and backslashes
 * mean what they mean to a shell, and nothing else does. The channel, or -1. */
int trcstart(char* arguments);
/* 0, or -1. */
int trcon(int channel);
int trcoff(int channel);

/* `channel`, or channel | one of these. */
#define TRCSTOP_SERIAL 0x40000000      /* return when the log is complete; so does it without */
#define TRCSTOP_DISCARDBUFS 0x20000000 /* what is in buffers goes, and is counted in the log */
int trcstop(int channel);

#ifdef __cplusplus
}
#endif

#endif
