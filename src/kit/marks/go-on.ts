/** The prompt of a run that goes on from results which are part of the conversation already. The bridge takes it out before a model reads it. */
export const GO_ON = "[gateway: the results of the calls above are complete, go on]";
