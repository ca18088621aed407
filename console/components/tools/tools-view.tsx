/** What was called, and the tools there are. */
import { view } from "../../state/console-state.ts";
import { ACTIVITY_TABS } from "../activity/activity-tabs.ts";
import { ViewFrame } from "../parts/view-frame.tsx";
import { CallList } from "./call-list.tsx";
import { ToolList } from "./tool-list.tsx";

export function ToolsView() {
  const calls = view.value === "calls";
  return (
    <ViewFrame name="Activity" testId="tools-view" tabs={ACTIVITY_TABS}>
      <h2 class="hidden">{calls ? "Tool calls" : "Tools"}</h2>
      {calls ? <CallList /> : <ToolList />}
    </ViewFrame>
  );
}
