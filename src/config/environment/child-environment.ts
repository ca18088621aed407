/** The variables of a program that is started in the gateway's place: all of this process, and some more. Agents never get these. */
export function childEnvironment(more: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return Object.assign({}, process.env, more);
}
