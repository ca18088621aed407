/** Takes every capability away, for good, so that a gateway that runs as root confines its agents like any other. */
import type { Kernel } from "./libc.ts";

const PR_CAPBSET_READ = 23;
const PR_CAPBSET_DROP = 24;
const PR_SET_SECUREBITS = 28;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
/** Root gets nothing by being root, nothing is kept over a change of user, and no program can switch that back. */
const SECUREBITS = 0b1110_1111;
const CAPABILITY_VERSION = 0x20080522;
const LAST_CAPABILITY = 63;
const CAPABILITY_WORDS = 6;
const EPERM = 1;

/** Returns what went wrong, or null. */
export function dropCapabilities(kernel: Kernel): string | null {
  const privileges = kernel.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (privileges !== 0) return `no_new_privs cannot be set (error ${-privileges})`;
  const ambient = kernel.call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (ambient !== 0) return `capabilities cannot be cleared (error ${-ambient})`;
  for (let one = 0; one <= LAST_CAPABILITY; one++) {
    if (kernel.call("prctl", PR_CAPBSET_READ, one, 0, 0, 0) !== 1) continue; // not of this kernel, or gone
    const dropped = kernel.call("prctl", PR_CAPBSET_DROP, one, 0, 0, 0);
    if (dropped !== 0 && dropped !== -EPERM) return `capability ${one} cannot be dropped (error ${-dropped})`;
    if (dropped === -EPERM) break; // a plain user has none, and no_new_privs keeps it so
  }
  const bits = kernel.call("prctl", PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0);
  if (bits !== 0 && bits !== -EPERM) return `the rights of root cannot be locked (error ${-bits})`;
  const header = new Uint32Array([CAPABILITY_VERSION, 0]);
  const none = kernel.call("capset", header, new Uint32Array(CAPABILITY_WORDS));
  return none === 0 ? null : `capabilities cannot be given up (error ${-none})`;
}
