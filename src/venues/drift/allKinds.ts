import type { DriftFinding } from '../../runtime/venueDrift.ts';
import { KLINE_KINDS } from '../binance/klines.ts';
import { BINANCE_KINDS, BINANCE_PERP_KINDS } from '../binance/messages.ts';
import { BYBIT_KINDS } from '../bybit/messages.ts';
import { COINBASE_KINDS } from '../coinbase/messages.ts';
import { HYPERLIQUID_KINDS } from '../hyperliquid/messages.ts';
import { OKX_KINDS } from '../okx/messages.ts';
import { CLOB_KINDS } from '../polymarket/clob/knownKeys.ts';
import { CLOB_REST_KINDS } from '../polymarket/clob/rest.ts';
import { CRYPTO_PRICE_KINDS } from '../polymarket/cryptoPrice/client.ts';
import { DATA_API_KINDS } from '../polymarket/dataApi/resolutions.ts';
import { GAMMA_KINDS } from '../polymarket/gamma/knownKeys.ts';
import { POLYBOLT_KINDS } from '../polymarket/polybolt/messages.ts';
import { RTDS_KINDS } from '../polymarket/rtds/messages.ts';
import { isKnownPath, type MessageKinds } from './knownKeys.ts';

/** The known messages of every feed, by its name in logs and metrics. */
export const ALL_KINDS: Readonly<Record<string, MessageKinds>> = {
  'polymarket.clob': CLOB_KINDS,
  'polymarket.clob.rest': CLOB_REST_KINDS,
  'polymarket.clob.audit': CLOB_REST_KINDS,
  'polymarket.gamma': GAMMA_KINDS,
  'polymarket.rtds': RTDS_KINDS,
  'polymarket.polybolt': POLYBOLT_KINDS,
  'polymarket.data': DATA_API_KINDS,
  'polymarket.crypto_price': CRYPTO_PRICE_KINDS,
  'binance.rest': KLINE_KINDS,
  'bybit.rest': BYBIT_KINDS,
  'binance.perp': BINANCE_PERP_KINDS,
  'okx.perp': OKX_KINDS,
  'hyperliquid.perp': HYPERLIQUID_KINDS,
  binance: BINANCE_KINDS,
  coinbase: COINBASE_KINDS,
};

/** Whether this version knows a field or a kind of message that an earlier version reported. */
export function isKnownNow({ category, feed, kind, key }: DriftFinding): boolean {
  const kinds = ALL_KINDS[feed];
  if (category === 'unknown_message') return kinds !== undefined && Object.hasOwn(kinds, key);
  const known = category === 'unknown_field' ? kinds?.[kind] : undefined;
  return known !== undefined && isKnownPath(known, key);
}
