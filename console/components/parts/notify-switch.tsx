/** Switches notifications in this browser on and off, and says why where that cannot be. */
import { useReading } from "./use-reading.ts";
import { notified, readNotified, switchOff, switchOn, whyNot } from "../../state/notifications-state.ts";
import { Problem, useAction } from "./use-action.tsx";

export function NotifySwitch() {
  const { busy, problem, run } = useAction();
  useReading(readNotified);
  const now = notified.value;
  if (now === null) return null;
  if (now === "failed") return <p class="about">Notifications could not be read. Is the gateway connected?</p>;
  const isOn = now.items.some(({ current }) => current);
  const reason = now.enabled ? whyNot() : "Notifications are switched off in the settings (notifications.enabled).";
  return (
    <div class="notify" data-testid="notify">
      <label class="switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          disabled={busy || (reason !== null && !isOn)}
          aria-describedby="notify-about"
          onChange={(event) => {
            event.currentTarget.checked = isOn; // it changes when the gateway has said so
            void run(isOn ? switchOff : switchOn);
          }}
        />
        <span>Notify this browser</span>
      </label>
      <p class="about" id="notify-about">
        {reason ??
          (isOn
            ? "It is told when an approval, a question or a problem waits, also when this page is closed. Short calls can be allowed or denied in the notification."
            : "When an approval, a question or a problem waits, it is told here, also when this page is closed.")}
      </p>
      <Problem text={problem} />
    </div>
  );
}
