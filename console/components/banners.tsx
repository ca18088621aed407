/** Things worth knowing that are not part of the conversation: the line is down, the web console is old, the gateway needs attention. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { approvalsElsewhere, questionsElsewhere, titleOf } from "../state/asking.ts";
import { line, newVersion, openSession, status, wasOpen } from "../state/console-state.ts";
import { Icon } from "./icons.tsx";

const dismissed = signal<ReadonlySet<string>>(new Set());

export function Banners() {
  const away = line.value === "waiting" || (line.value === "connecting" && wasOpen.value);
  const notices = (status.value?.notices ?? []).filter((notice) => !dismissed.value.has(notice));
  return (
    <div class="banners">
      {away && (
        <Banner kind="offline">
          <p>Reconnecting… What you send now is kept and goes out when the gateway answers again.</p>
        </Banner>
      )}
      <Waiting />
      <AskedElsewhere />
      {newVersion.value && (
        <Banner kind="version">
          <p>A new version is ready.</p>
          <button type="button" class="quiet small" onClick={() => location.reload()}>
            Reload
          </button>
        </Banner>
      )}
      {notices.map((notice) => (
        <Banner kind="notice" key={notice}>
          <p>{notice}</p>
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(notice)}>
            <Icon name="close" size={16} />
          </button>
        </Banner>
      ))}
    </div>
  );
}

/** Calls that wait for the owner in conversations that are not open: the one that has waited longest. */
function Waiting() {
  const [first, ...more] = approvalsElsewhere.value;
  if (!first) return null;
  return (
    <Banner kind="asks">
      <p>
        <code>{first.tool}</code> waits for your approval in “{titleOf(first.sessionKey)}”.
        {more.length > 0 && ` ${more.length} more ${more.length === 1 ? "waits" : "wait"}.`}
      </p>
      <button type="button" class="quiet small" onClick={() => openSession(first.sessionKey)}>
        Show
      </button>
    </Banner>
  );
}

/** The same for what running turns want to know. */
function AskedElsewhere() {
  const [first] = questionsElsewhere.value;
  if (!first) return null;
  return (
    <Banner kind="asks">
      <p>The assistant asks you something in “{titleOf(first.sessionKey)}”.</p>
      <button type="button" class="quiet small" onClick={() => openSession(first.sessionKey)}>
        Show
      </button>
    </Banner>
  );
}

function dismiss(notice: string): void {
  dismissed.value = new Set([...dismissed.value, notice]);
}

function Banner({
  kind,
  children,
}: {
  readonly kind: "offline" | "version" | "notice" | "asks";
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`banner ${kind}`} data-testid="banner" data-kind={kind} role="status">
      {children}
    </div>
  );
}
