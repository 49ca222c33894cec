import type { PerpVenueName } from '../schema/events.ts';
import { binancePerp } from './binance/perp.ts';
import { bybitPerp } from './bybit/perp.ts';
import { hyperliquidPerp } from './hyperliquid/perp.ts';
import { okxPerp } from './okx/perp.ts';
import type { PerpVenue } from './perpVenue.ts';

/** Every venue whose perpetual books can be polled. */
export const PERP_VENUE_BY_NAME: Readonly<Record<PerpVenueName, PerpVenue>> = {
  bybit: bybitPerp,
  binance: binancePerp,
  okx: okxPerp,
  hyperliquid: hyperliquidPerp,
};
