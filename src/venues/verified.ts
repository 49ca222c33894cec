/** Explicit: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise switch verification off. */
export const VERIFIED = { rejectUnauthorized: true } as const;
