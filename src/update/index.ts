/**
 * Which installed version of the gateway runs on a state directory, and how a new one takes over: `versionFiles` are the small files that the
 * launcher (bin/pi-gw) reads, `beginVersion` is the part of a start that tries a new version, counts it, or goes back from it. Installs nothing:
 * that is `pi-gw update`.
 */
export { beginVersion, type RunningVersion } from "./begin-version.ts";
export { createUpdater } from "./updater.ts";
export { isInCheckout, whyNot } from "./why-not.ts";
export { BASE, type Trial, versionFiles, type VersionFiles, versionRoot } from "./version-files.ts";
