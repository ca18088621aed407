/** The view of keys that let programs in: a form for a new one, its secret while it is shown, and the keys there are. */
import { useEffect, useRef } from "preact/hooks";
import { followKeys, keys, madeKey } from "../../state/keys-state.ts";
import { CopyButton } from "../copy-button.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "../system/system-tabs.ts";
import { KeyForm } from "./key-form.tsx";
import { KeyItem } from "./key-item.tsx";

export function KeysView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(followKeys, []);
  return (
    <ViewFrame name="System" testId="keys-view" region={region} tabs={SYSTEM_TABS}>
      <p class="about">
        A key lets a program in, with no more rights than it needs. It is shown once, and can be revoked at any time.
      </p>
      <KeyForm />
      <MadeKey />
      <h2 class="hidden">Keys</h2>
      <PagedList
        name="Keys"
        list={keys.value}
        failed="The keys could not be read. They come back with the connection."
        empty="There are no keys yet."
        keyOf={({ id }) => id}
      >
        {(key) => <KeyItem apiKey={key} onRevoked={() => region.current?.focus()} />}
      </PagedList>
    </ViewFrame>
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
