/** Updates for the operator: which version runs, a look for a newer one, and an update that runs like the command. */
import { ADMIN, READ } from "../access/key-reach.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

export function updateRoutes({ operations }: Pick<HttpDeps, "operations">): readonly Route[] {
  return [
    {
      ...OPERATOR_GET,
      path: "/api/update",
      scope: READ,
      handle: () => jsonOf<"GET /api/update">(operations.views.updater.report()),
    },
    {
      ...OPERATOR_POST,
      path: "/api/update/check",
      scope: ADMIN,
      handle: async ({ signal }) => jsonOf<"POST /api/update/check">(await operations.views.updater.look(signal)),
    },
    {
      ...OPERATOR_POST,
      path: "/api/update",
      scope: ADMIN,
      handle() {
        operations.views.updater.start();
        return jsonOf<"POST /api/update">(operations.views.updater.report(), 202);
      },
    },
  ];
}
