/** Set explicitly: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise turn verification off. */
export const VERIFIED = { rejectUnauthorized: true } as const;
