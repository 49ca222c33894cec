import type { Election } from './recordStream.ts';

/** The election of a process that has no rivals: elected at once, for ever. */
export const ALWAYS_ELECTED: Election = {
  campaign: (_task, { onElected }) => {
    onElected();
    return { isLeader: true, stop: async () => undefined };
  },
};

/** The election of a process that only reads. */
export const NEVER_ELECTED: Election = {
  campaign: () => ({ isLeader: false, stop: async () => undefined }),
};
