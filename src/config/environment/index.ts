/**
 * The light door of the configuration: what the process itself was given. Every command reads it, and most of them nothing else; the other
 * door brings the whole description of the file with it, which takes longer to load than a command may take.
 */
export { type Environment, readEnvironment } from "./environment.ts";
export { firstProviderWithKey, keysForProvider, PROVIDER_KEYS } from "./provider-keys.ts";
export { providerEndpoint } from "./provider-endpoints.ts";
export { readSupervisor, type SupervisorSettings } from "./supervisor.ts";
export { childEnvironment } from "./child-environment.ts";
