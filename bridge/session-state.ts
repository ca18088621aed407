/** Which session pi has open now, with which model: told before pi answers that it has switched, so that the gateway need not ask. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const KEY = "pi-gateway:session";

/** In the words of pi's own answer to `get_state`. */
export function tellSession(pi: ExtensionAPI, { ui, model, sessionManager }: ExtensionContext): void {
  const state = {
    sessionFile: sessionManager.getSessionFile(),
    model: model && { provider: model.provider, id: model.id },
    thinkingLevel: pi.getThinkingLevel(),
  };
  ui.setStatus(KEY, JSON.stringify(state));
}
