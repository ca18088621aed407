/** The view of keys that let programs in: a form for a new one, its secret while it is shown, and the keys there are. */
import { useEffect, useRef } from "preact/hooks";
import { followKeys, keys, madeKey } from "../../state/keys-state.ts";
import { CopyButton } from "../copy-button.tsx";
import { KeyForm } from "./key-form.tsx";
import { KeyItem } from "./key-item.tsx";

export function KeysView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(followKeys, []);
  const { phase, items } = keys.value;
  return (
    <div class="chat-frame">
      <div class="chat" tabindex={0} role="region" aria-label="Keys" data-testid="keys-view" ref={region}>
        <div class="column">
          <p class="key-about">
            A key lets a program in, with no more rights than it needs. It is shown once, and can be revoked at any
            time.
          </p>
          <KeyForm />
          <MadeKey />
          {phase === "failed" && (
            <p class="list-note">The keys could not be read. They come back with the connection.</p>
          )}
          {phase === "ready" && items.length === 0 && <p class="list-note">There are no keys yet.</p>}
          {items.length > 0 && <h2 class="hidden">Keys</h2>}
          <ul class="tool-list" aria-label="Keys" aria-busy={phase === "loading"}>
            {items.map((key) => (
              <li key={key.id}>
                <KeyItem apiKey={key} onRevoked={() => region.current?.focus()} />
              </li>
            ))}
          </ul>
        </div>
      </div>
    </div>
  );
}

function MadeKey() {
  const done = useRef<HTMLButtonElement>(null);
  const made = madeKey.value;
  useEffect(() => {
    if (made) done.current?.focus();
  }, [made]);
  if (made === null) return null;
  return (
    <section class="key-made" aria-label={`The new key of ${made.name}`} data-testid="made-key">
      <p>
        This is the key of <strong>{made.name}</strong>. Copy it to the program now: it is not shown again.
      </p>
      <div class="key-secret">
        <code data-testid="secret">{made.secret}</code>
        <CopyButton text={made.secret} label="Copy the key" />
      </div>
      <button type="button" class="quiet small edged" ref={done} onClick={() => (madeKey.value = null)}>
        Done
      </button>
    </section>
  );
}
