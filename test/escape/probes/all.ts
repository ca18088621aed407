/** All probes, in the order of their classes; those that use up the machine come last. */
import { FILES } from "./files.ts";
import { KERNEL, PROC } from "./kernel.ts";
import { AROUND, NETWORK } from "./network.ts";
import { NEXT_START } from "./next-start.ts";
import { LIMITS_OF_OTHERS, MEMORY } from "./others.ts";
import type { Probe } from "./probe.ts";
import { RESOURCES, SIGNALS } from "./processes.ts";
import { RIGHTS } from "./rights.ts";
import { SOCKETS } from "./sockets.ts";

export const PROBES: readonly Probe[] = [
  ...[
    NEXT_START,
    NETWORK,
    AROUND,
    SOCKETS,
    MEMORY,
    LIMITS_OF_OTHERS,
    RIGHTS,
    FILES,
    SIGNALS,
    KERNEL,
    PROC,
    RESOURCES,
  ].flat(),
];
