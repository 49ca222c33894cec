import { z } from 'zod';

/** Subscription tiers, from least to most. A user has one; every key of the user is scoped to it. */
export const TIERS = ['free', 'pro', 'plus', 'premium'] as const;
export type Tier = (typeof TIERS)[number];

export const tierSchema = z.enum(TIERS);

/** What a user starts with until an operator says otherwise. */
export const DEFAULT_TIER: Tier = 'free';
