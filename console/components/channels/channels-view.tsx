/** Channels and the people on them: how each account is, who may write, and who would answer them. */
import { ViewFrame } from "../parts/view-frame.tsx";
import { ChannelList } from "./channel-list.tsx";
import { OtherRoles } from "./other-roles.tsx";
import { People } from "./people.tsx";
import { WhoAnswers } from "./who-answers.tsx";

export function ChannelsView() {
  return (
    <ViewFrame name="Channels" testId="channels-view">
      <ChannelList />
      <People />
      <OtherRoles />
      <WhoAnswers />
    </ViewFrame>
  );
}
