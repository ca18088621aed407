/** The first setup, and every later one: the same steps as `pi-gw init`. Each is tried for real, saved by itself, and can be left for later. */
import { useEffect } from "preact/hooks";
import { stepOf } from "../../state/route.ts";
import { checks, followSetup } from "../../state/setup-state.ts";
import { NotifySwitch } from "../parts/notify-switch.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "../system/system-tabs.ts";
import { ChannelStep, OwnerStep } from "./channel-step.tsx";
import { ModelStep } from "./model-step.tsx";
import { Said, Step, useTrying } from "./step.tsx";

export function SetupView() {
  useEffect(followSetup, []);
  const isRead = checks.value !== null; // steps grow when it is known how they are
  useEffect(() => {
    const show = (): void => {
      const heading = document.getElementById(`setup-${stepOf(location.hash)}`);
      heading?.scrollIntoView({ block: "start" });
      heading?.focus({ preventScroll: true });
    };
    show();
    addEventListener("hashchange", show);
    return () => removeEventListener("hashchange", show);
  }, [isRead]);
  return (
    <ViewFrame name="System" testId="setup-view" tabs={SYSTEM_TABS}>
      <section class="part">
        <h2>Setup</h2>
        <p class="about">
          Each step is tried for real before it is saved, costs nothing, and can be left for later. Saved steps are in
          the settings, with comments, and in force at once.
        </p>
      </section>
      <ModelStep />
      <ChannelStep />
      <OwnerStep />
      <Step name="Notifications" id="notifications" check="notifications">
        <NotifySwitch />
      </Step>
      <BackupStep />
    </ViewFrame>
  );
}

function BackupStep() {
  const trying = useTrying();
  return (
    <Step name="Backup" id="backup" check="backup">
      <form
        class="form"
        aria-label="Make backups"
        onSubmit={(event) => {
          event.preventDefault();
          void trying.save({ backup: true });
        }}
      >
        <button type="submit" class="primary" disabled={trying.busy}>
          Make a backup every day
        </button>
        <p class="about setup-how">
          They stay on this disk until <code>backup.folder</code> in the settings names another one.
        </p>
        <Said trying={trying} />
      </form>
    </Step>
  );
}
