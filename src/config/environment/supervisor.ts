/** What a supervisor such as systemd tells the gateway by the environment: where to report, and how often. */

export interface SupervisorSettings {
  /** The address of a datagram socket: a path, or `@` and a name. */
  readonly notifySocket: string;
  /** It restarts the gateway when it hears nothing for so long; null: it does not watch. */
  readonly watchdogMs: number | null;
}

/** Null: nobody wants to be told. `pid` is the gateway's own: a watchdog may be meant for another process. */
export function readSupervisor(
  variables: (name: string) => string | undefined,
  pid: number,
): SupervisorSettings | null {
  const notifySocket = variables("NOTIFY_SOCKET") ?? "";
  if (!/^[/@]./.test(notifySocket)) return null; // systemd also knows vsock addresses, for virtual machines as a whole
  const usec = Number(variables("WATCHDOG_USEC") ?? "");
  const watched = variables("WATCHDOG_PID") ?? String(pid);
  const watches = Number.isSafeInteger(usec) && usec > 0 && watched === String(pid);
  return { notifySocket, watchdogMs: watches ? Math.max(1, Math.floor(usec / 1_000)) : null };
}
