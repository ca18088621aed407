/** What a new key may do. */
import type { Signal } from "@preact/signals";
import type { KeyScope } from "../../../src/contracts/api-keys.ts";

const SCOPES: readonly { readonly scope: KeyScope; readonly says: string }[] = [
  { scope: "chat", says: "Chat: speak in sessions of its own" },
  { scope: "tools", says: "Tools: list and call tools" },
  { scope: "read", says: "Read: every session, usage, status" },
  { scope: "admin", says: "Admin: everything you may do" },
];

export function KeyScopes({ scopes }: { readonly scopes: Signal<readonly KeyScope[]> }) {
  const toggle = (scope: KeyScope, on: boolean): void => {
    scopes.value = on ? [...scopes.value, scope] : scopes.value.filter((one) => one !== scope);
  };
  return (
    <fieldset class="key-scopes">
      <legend>What it may do</legend>
      {SCOPES.map(({ scope, says }) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={scopes.value.includes(scope)}
            onChange={(event) => toggle(scope, event.currentTarget.checked)}
          />
          <span>{says}</span>
        </label>
      ))}
    </fieldset>
  );
}
