/** The documentation site, for those who have signed in: it holds no secrets, but tells a stranger what runs here and in which version. */
import { GatewayError } from "../../contracts/errors.ts";
import { READ } from "../access/key-reach.ts";
import { type Call, OPERATOR_GET, param, type Route } from "../route.ts";
import type { ConsoleAssets } from "../types.ts";
import { consoleFile } from "./public.ts";

/** Pages have one script and one stylesheet of their own, and pictures; nothing is asked of anybody else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

export function docsRoutes(assets: Pick<ConsoleAssets, "docs" | "build">): readonly Route[] {
  const row = (path: string, addressOf: (call: Call) => string): Route => ({
    ...OPERATOR_GET,
    path,
    scope: READ,
    handle(call) {
      const file = assets.docs.get(addressOf(call));
      if (file) return consoleFile(call.request.headers, { ...file, policy: POLICY }, assets.build);
      throw new GatewayError("not_found", "no such page", { say: "There is no such page in the documentation." });
    },
  });
  return [
    row("/docs", () => "/docs"),
    row("/docs/:page", (call) => `/docs/${param(call, "page")}`),
    row("/docs/:folder/:page", (call) => `/docs/${param(call, "folder")}/${param(call, "page")}`),
  ];
}
