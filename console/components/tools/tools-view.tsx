/** The activity of agents: what was called, and the tools there are. */
import { view } from "../../state/console-state.ts";
import { type Tab, ViewFrame } from "../parts/view-frame.tsx";
import { CallList } from "./call-list.tsx";
import { ToolList } from "./tool-list.tsx";

const TABS: readonly Tab[] = [
  { view: "calls", name: "Tool calls" },
  { view: "tools", name: "Tools" },
];

export function ToolsView() {
  const calls = view.value === "calls";
  return (
    <ViewFrame name="Activity" testId="tools-view" tabs={TABS}>
      <h2 class="hidden">{calls ? "Tool calls" : "Tools"}</h2>
      {calls ? <CallList /> : <ToolList />}
    </ViewFrame>
  );
}
