/** Messages between the Live page and the worker with its socket. */
import type { LiveWindow } from '../api/schema.ts';

/** Connection state of a socket with automatic reconnects. */
export type Connectedness = 'connecting' | 'live' | 'lost';

/** Price (0..1) and shares, best first. */
export type Level = readonly [price: number, size: number];

export interface LiveMarket {
  readonly marketId: string;
  /** Venue time of the newest book, Unix ms. */
  readonly timeMs: number;
  readonly trusted: boolean;
  /** Cause of the market's open gap; null: none. */
  readonly gap: string | null;
  readonly underlying: number | null;
  readonly yesBids: readonly Level[];
  readonly yesAsks: readonly Level[];
  readonly noBids: readonly Level[];
  readonly noAsks: readonly Level[];
  /** Mid of YES once a second, oldest first; null without a mid. */
  readonly trail: readonly (number | null)[];
  /** Distance of the price above the strike in standard deviations; null where strike or sigma is unknown. */
  readonly distance: number | null;
  readonly modelProbability: number | null;
}

interface LiveTicker {
  /** Null while no price is at most 10 s old. */
  readonly price: number | null;
  /** Per square root of a year, over ten minutes; null with too few prices. */
  readonly sigmaAnnual: number | null;
}

export interface LiveState {
  readonly connection: Connectedness;
  /** The service's reason for the missing connection. */
  readonly reason: string | null;
  readonly markets: Readonly<Record<string, LiveMarket>>;
  readonly tickers: Readonly<Record<string, LiveTicker>>;
  /** When the newest book change was read, by this machine's clock, Unix ms; null before the first. */
  readonly newestBookMs: number | null;
  /** Markets whose newest book change could not be read. */
  readonly unreadable: number;
  /** Book changes received since the page was opened. */
  readonly received: number;
}

export type ToWorker =
  | { readonly kind: 'open'; readonly address: string }
  | {
      readonly kind: 'markets';
      readonly markets: readonly LiveWindow[];
      /** How far the service's clock is ahead of this machine's, ms. */
      readonly aheadMs: number;
    }
  | {
      readonly kind: 'prices';
      readonly ticker: string;
      readonly points: readonly (readonly [number, number])[];
    };
export type FromWorker =
  | { readonly kind: 'state'; readonly state: LiveState }
  /** A market opened or resolved: the list of markets is out of date. */
  | { readonly kind: 'markets-changed' };
