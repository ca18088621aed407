/** WebChat keeps the promises that every channel makes. */
import { webChatWorld } from "../../testing/channels/webchat-world.ts";
import { channelContract } from "../../testing/contracts/channel-contract.ts";

channelContract("webchat", webChatWorld);
