/** The route table behind the server of a test, for tests that look at every row. */
import { createAuth } from "../../http/access/auth.ts";
import { createMediaLinks } from "../../http/access/media-links.ts";
import { routeTable } from "../../http/route-table.ts";
import { secret } from "../../kit/secret.ts";
import { type HttpWorld, TOKEN } from "./http-fixture.ts";

export function tableOf(world: HttpWorld) {
  const { clock, ids, log, store, people } = world.deps;
  const bindingKey = new Uint8Array(32);
  const cookieName = () => "cookie";
  const settings = { token: secret(TOKEN), password: null };
  const deps = { clock, ids, log, signIns: store.signIns, keys: people.keys };
  const auth = createAuth(deps, { settings, bindingKey, cookieName });
  return routeTable(world.deps, {
    links: createMediaLinks(clock, bindingKey),
    stopping: AbortSignal.abort(),
    limits: () => ({ maxMessageChars: 1, maxUploadBytes: 1 }),
    isReady: () => true,
    signIn: { auth, cookieName, signedOut: async () => undefined },
  });
}
