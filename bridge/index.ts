/**
 * The extension that every agent process loads: gateway tools arrive as data over stdin, calls go back over the same pipe, pi tools
 * ask over it before they run, and a scripted demo model answers when no real one is set up. Calls to the model's
 * provider go through the gateway. In a sandbox with a network of its own it opens the
 * gateway's port there. It reads no file but the status of its own process, and holds no credential.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { separateCallIds } from "./call-ids.ts";
import { serveClientPrograms } from "./client-programs.ts";
import { registerDemoModel } from "./demo/model.ts";
import { envelopeErrors } from "./errors.ts";
import { hasFallbacks, useFallbacks } from "./fallbacks.ts";
import { keepOtherTexts } from "./kept-results.ts";
import { closeMemory } from "./memory.ts";
import { respellCalls } from "./names.ts";
import { tellModel, useModelDoor } from "./model-door.ts";
import { parseOrder } from "./orders.ts";
import { guardPiTools } from "./pi-tools.ts";
import { keepProviderWaits } from "./provider-waits.ts";
import { relayPorts } from "./relay.ts";
import { tellSession } from "./session-state.ts";
import { bridgeState, takeTools } from "./state.ts";
import { reportProgress, toolApplier } from "./tool-pipe.ts";

/** pi takes the default export of an extension file; that is the reason for this one. */
export default function bridge(pi: ExtensionAPI): void {
  console.log = console.info = console.debug = console.warn = console.error; // stdout belongs to the protocol

  delete process.env.BUN_BE_BUN; // for this process alone: programs that it starts may be made by Bun, and would become Bun
  closeMemory();
  useModelDoor();
  relayPorts();
  if (hasFallbacks()) useFallbacks(pi);
  else tellModel(pi);
  if (process.env.PI_GATEWAY_BRIDGE_MODE === "off") return; // models are called all the same
  const state = bridgeState();
  const tools = toolApplier(pi, state);
  let inTurn = false;
  tools.load();
  guardPiTools(pi, state);
  separateCallIds(pi);
  respellCalls(pi, state);
  serveClientPrograms(pi, state); // after the calls have their names
  envelopeErrors(pi, state);
  keepOtherTexts(pi, state); // after the errors have their form
  if (!hasFallbacks()) keepProviderWaits(pi); // nobody waits for one model while another can answer
  if (process.env.PI_GATEWAY_DEMO === "1") registerDemoModel(pi, () => state.specs);
  const suffix = process.env.PI_GATEWAY_BRIDGE ?? "";
  if (!/^[a-z0-9]{16,64}$/.test(suffix))
    throw new Error("PI_GATEWAY_BRIDGE is missing: this extension only works inside pi-gateway");

  pi.registerCommand(`gw-${suffix}`, {
    description: "internal to pi-gateway",
    handler: async (args: string, ctx) => {
      const order = parseOrder(args);
      if (order.kind === "progress") return reportProgress(state, order);
      if (order.kind === "real") return void (state.realTexts = order.texts);
      if (order.kind === "instructions") return void (state.instructions = order.text);
      takeTools(state, order);
      nameSession(order.session);
      // Between turns this can wait: the next session is loaded with the new list at once, and the next turn looks before it starts.
      if (inTurn || !ctx.isIdle()) tools.apply();
    },
  });

  // A session change makes a new instance of this extension, and pi announces it twice. Applying the same list again changes nothing.
  pi.on("session_start", (_event, ctx) => {
    tellSession(pi, ctx);
    tools.apply();
  });
  pi.on("before_agent_start", () => {
    inTurn = true;
    tools.apply();
  });
  pi.on("agent_settled", () => {
    inTurn = false;
  });
}

/** For scripts that the agent starts from now on: they inherit the environment of this process. */
function nameSession(session: string | null): void {
  if (session === null) delete process.env.PI_GATEWAY_SESSION_KEY;
  else process.env.PI_GATEWAY_SESSION_KEY = session;
}
