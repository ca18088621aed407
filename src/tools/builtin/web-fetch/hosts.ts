/** Which hosts may be opened: those of `allow`, without those of `deny`. A host stands for itself and for everything below it. */
interface HostLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** A part of a sentence that says why not; null: it may be opened. */
export function whyNotHost(host: string, { allow, deny }: HostLists): string | null {
  const name = host.toLowerCase().replace(/\.$/, "");
  const listed = (hosts: readonly string[]): boolean => hosts.some((one) => covers(one.toLowerCase(), name));
  if (listed(deny)) return `tools.webFetch.deny names ${name}`;
  return listed(allow) ? null : `tools.webFetch.allow does not name ${name}`;
}

function covers(listed: string, host: string): boolean {
  return listed === "*" || host === listed || host.endsWith(`.${listed}`);
}
