/** Landlock: which files, TCP ports and processes the calling thread, and all it becomes and starts, may reach. Cannot be undone. */
import type { Kernel } from "./libc.ts";

const CREATE_RULESET = "landlock_create_ruleset";
const ADD_RULE = "landlock_add_rule";
const RESTRICT_SELF = "landlock_restrict_self";
const ASK_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const RULE_NET_PORT = 2;

/** Versions of Landlock by what they brought. */
export const LANDLOCK_TCP = 4;
const LANDLOCK_DEVICES = 5;
const LANDLOCK_SCOPES = 6;
const LANDLOCK_REFER = 2;
const LANDLOCK_TRUNCATE = 3;

const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIR = 1 << 3;
const REMOVE_DIR = 1 << 4;
const REMOVE_FILE = 1 << 5;
const MAKE_CHAR = 1 << 6;
const MAKE_DIR = 1 << 7;
const MAKE_REG = 1 << 8;
const MAKE_SOCK = 1 << 9;
const MAKE_FIFO = 1 << 10;
const MAKE_BLOCK = 1 << 11;
const MAKE_SYM = 1 << 12;
const REFER = 1 << 13;
const TRUNCATE = 1 << 14;
const IOCTL_DEV = 1 << 15;

const READS = EXECUTE | READ_FILE | READ_DIR;
/** Devices and sockets are made nowhere. */
const WRITES =
  READS | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE;
const DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV;
/** The only rights a rule for a single file may name. */
const OF_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV;

const CONNECT_TCP = 2n;
const BIND_AND_CONNECT = 3n;
const SIGNALS_AND_ABSTRACT_SOCKETS = 3n;

export type FileAccess = "list" | "read" | "write" | "device";
const ACCESS: Readonly<Record<FileAccess, number>> = { list: READ_DIR, read: READS, write: WRITES, device: DEVICE };

export interface LandlockRules {
  readonly files: readonly { readonly fd: number; readonly isFolder: boolean; readonly access: FileAccess }[];
  /** Null: TCP is not limited here. Otherwise the ports that may be connected to. */
  readonly ports: readonly number[] | null;
}

/** 0: this kernel has no Landlock, or it is switched off. */
export function landlockVersion(kernel: Kernel): number {
  return Math.max(0, kernel.call(CREATE_RULESET, 0, 0, ASK_VERSION));
}

/** Returns what went wrong, or null. `no_new_privs` must be set. */
export function restrictFiles(kernel: Kernel, version: number, rules: LandlockRules): string | null {
  const known = knownRights(version);
  const ports = version >= LANDLOCK_TCP && rules.ports !== null ? BIND_AND_CONNECT : 0n;
  const scopes = version >= LANDLOCK_SCOPES ? SIGNALS_AND_ABSTRACT_SOCKETS : 0n;
  const attributes = [BigInt(known), ...(version >= LANDLOCK_TCP ? [ports] : []), ...(scopes > 0n ? [scopes] : [])];
  const ruleset = new BigUint64Array(attributes);
  const set = kernel.call(CREATE_RULESET, ruleset, ruleset.byteLength, 0);
  if (set < 0) return `Landlock refused its rules (error ${-set})`;
  for (const { fd, isFolder, access } of rules.files) {
    const rights = ACCESS[access] & known & (isFolder ? ~0 : OF_FILES);
    const result = rights === 0 ? 0 : kernel.call(ADD_RULE, set, RULE_PATH_BENEATH, pathRule(rights, fd), 0);
    if (result !== 0) return `Landlock refused a rule for a file (error ${-result})`;
  }
  for (const port of ports === 0n ? [] : (rules.ports ?? [])) {
    const result = kernel.call(ADD_RULE, set, RULE_NET_PORT, new BigUint64Array([CONNECT_TCP, BigInt(port)]), 0);
    if (result !== 0) return `Landlock refused a rule for port ${port} (error ${-result})`;
  }
  const result = kernel.call(RESTRICT_SELF, set, 0);
  return result === 0 ? null : `Landlock could not be put in force (error ${-result})`;
}

function knownRights(version: number): number {
  const first =
    READS |
    WRITE_FILE |
    REMOVE_DIR |
    REMOVE_FILE |
    MAKE_CHAR |
    MAKE_DIR |
    MAKE_REG |
    MAKE_SOCK |
    MAKE_FIFO |
    MAKE_BLOCK;
  return (
    first |
    MAKE_SYM |
    (version >= LANDLOCK_REFER ? REFER : 0) |
    (version >= LANDLOCK_TRUNCATE ? TRUNCATE : 0) |
    (version >= LANDLOCK_DEVICES ? IOCTL_DEV : 0)
  );
}

/** `struct landlock_path_beneath_attr`, which is packed. */
function pathRule(rights: number, fd: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(12));
  view.setBigUint64(0, BigInt(rights), true);
  view.setInt32(8, fd, true);
  return new Uint8Array(view.buffer);
}
