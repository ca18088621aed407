/** Things worth knowing that are not part of the conversation: the line is down, the page is old, the gateway needs attention. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { line, newVersion, status, wasOpen } from "../state/session-page.ts";
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

function dismiss(notice: string): void {
  dismissed.value = new Set([...dismissed.value, notice]);
}

function Banner({
  kind,
  children,
}: {
  readonly kind: "offline" | "version" | "notice";
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`banner ${kind}`} data-testid="banner" data-kind={kind} role="status">
      {children}
    </div>
  );
}
