/** The wall of macOS: a profile for `sandbox-exec`, which denies everything that it does not name. Pure. Not run by our tests: see SECURITY.md. */
import type { ConfinedProgram, Launch } from "../contracts/sandbox.ts";
import type { SandboxPolicy } from "./policy.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
/** What programs need to start at all. */
const SYSTEM_READS = [
  "/usr",
  "/bin",
  "/sbin",
  "/opt",
  "/System",
  "/Library/Apple",
  "/Library/Developer/CommandLineTools",
  "/Library/Preferences/Logging",
  "/private/etc/ssl",
  "/private/etc/hosts",
  "/private/etc/resolv.conf",
  "/private/etc/localtime",
  "/private/etc/passwd",
  "/private/etc/services",
  "/private/var/db/timezone",
  "/private/var/db/dyld",
  "/private/var/select",
];
const SERVICES = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.dyld.closured",
  "com.apple.trustd.agent",
];
/** Names of hosts and certificates, where the network is open. */
const NETWORK_SERVICES = ["com.apple.dnssd.service", "com.apple.SystemConfiguration.configd", "com.apple.networkd"];

export function macosLaunch(policy: SandboxPolicy, { argv, cwd, env }: ConfinedProgram): Launch {
  return { argv: [SANDBOX_EXEC, "-p", macosProfile(policy), ...argv], cwd, env, wrappers: 0 };
}

export function macosProfile({ read, readIfThere, write, devices, network }: SandboxPolicy): string {
  const files = (paths: readonly string[]): string => paths.map((path) => `  (subpath ${quoted(path)})`).join("\n");
  const named = (names: readonly string[]): string => names.map((name) => `  (global-name ${quoted(name)})`).join("\n");
  const open = network.kind === "open";
  const ports = network.kind === "closed" ? network.ports : [];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork)",
    "(allow process-exec)",
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read-metadata)",
    '(allow file-read* (literal "/"))',
    `(allow file-read*\n${files([...SYSTEM_READS, ...readIfThere, ...read, ...write, ...devices])})`,
    `(allow file-write*\n${files(write)})`,
    `(allow file-write-data\n${files(devices)})`,
    "(deny file-write-setugid)",
    `(allow mach-lookup\n${named(open ? [...SERVICES, ...NETWORK_SERVICES] : SERVICES)})`,
    ...(open ? ["(allow network-outbound (remote ip))", "(allow system-socket)"] : []),
    ...ports.map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
