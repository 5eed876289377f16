/* Control of tracing from a program, under AIX's names. Each starts the program `tracewell`, found
 * in PATH or named by the variable TRACEWELL, and waits for it. */
#ifndef TRACEWELL_AIX_SYS_TRCCTL_H
#define TRACEWELL_AIX_SYS_TRCCTL_H

#ifdef __cplusplus
extern "C" {
#endif

/* `arguments` as of the command trace, separated by blanks; -a is implied. The channel, or -1. */
int trcstart(char* arguments);
/* 0, or -1. */
int trcon(int channel);
int trcoff(int channel);
int trcstop(int channel);

#ifdef __cplusplus
}
#endif

#endif
