/** Model calls of agent processes: they leave through the gateway, which puts in the key. No process holds one. */
import type { MuxStream } from "../kit/mux/mux.ts";
import type { Caller } from "./agent.ts";

/**
 * What a process has in the place of a key. No secret: it is worth nothing but in a call through the model door. pi recognises Anthropic's
 * login tokens by how they begin, and asks differently with one.
 */
export const PLACEHOLDER_KEY = "pi-gateway-placeholder";
export const PLACEHOLDER_LOGIN = `sk-ant-oat-${PLACEHOLDER_KEY}`;

export interface ModelDoor {
  /** For one process: the providers it may call. */
  connect(providers: readonly string[]): ProcessDoor;
}

export interface ProcessDoor {
  /** Answers one call. Never throws: what goes wrong is the answer. */
  serve(call: MuxStream, head: unknown): void;
  /** For whom calls are made from now on. Null: they are refused, and those that run end. */
  lease(caller: Caller | null): void;
}
