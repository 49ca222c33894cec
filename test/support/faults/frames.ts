import {
  ANY_LIMIT_MS,
  BUSY_LIMIT_MS,
  everyLink,
  isChange,
  neverSent,
  of,
  rewritten,
  type ScriptedFault,
  SILENT,
} from './script.ts';

export const FRAME_FAULTS: readonly ScriptedFault[] = [
  {
    name: 'a thousand frames arrive twice',
    begin: (v) => {
      v.faults.duplicatesLeft = 1_000;
    },
    lastsMs: 10_000,
  },
  {
    name: 'books and trades arrive 0.6 s after their changes',
    begin: (v) => {
      v.faults.reorderDelayMs = 600;
    },
    end: (v) => {
      v.faults.reorderDelayMs = 0;
    },
    lastsMs: 10_000,
  },
  {
    name: 'one change is never sent',
    begin: (v) => neverSent(v, 1, (text) => isChange(text) && text.includes(of(v, '5m'))),
    lastsMs: 0,
    gap: { causes: ['book_mismatch', 'crossed_book'], on: ['5m'], withinMs: 2_000 },
  },
  {
    name: 'ten changes are never sent',
    begin: (v) => neverSent(v, 10, (text) => isChange(text) && text.includes(of(v, '5m'))),
    lastsMs: 1_000,
    gap: { causes: ['book_mismatch', 'crossed_book'], on: ['5m'], withinMs: 2_000 },
  },
  {
    name: 'one change of a quiet market is never sent',
    begin: (v) => neverSent(v, 1, (text) => isChange(text) && text.includes(of(v, '1h'))),
    lastsMs: 10_000,
    gap: { causes: ['book_mismatch', 'crossed_book', ...SILENT], on: ['1h'], withinMs: ANY_LIMIT_MS + 2_000 },
  },
  {
    name: 'the book after a trade is never sent',
    begin: (v) =>
      neverSent(v, 2, (text) => text.includes('"event_type":"book"') && text.includes(of(v, '5m'))),
    lastsMs: 10_000,
  },
  {
    name: 'a remainder that crosses the book stays: its removal is never sent',
    begin: (v) => {
      const live = v.model.bookOf(v.market('5m'));
      const { upToken, downToken, conditionId } = v.market('5m').facts;
      const price = ((live?.book.ladder.bestAsk ?? 0) + 10) / 1000;
      const timestamp = String(v.bookOf(v.market('5m')).yes.timeMs);
      const level = { size: '7', hash: '0'.repeat(40), best_bid: '0.1', best_ask: '0.9' };
      const changes = [
        { asset_id: upToken, price: String(price), side: 'BUY', ...level },
        { asset_id: downToken, price: String(Math.round((1 - price) * 1000) / 1000), side: 'SELL', ...level },
      ];
      const frame = { market: conditionId, price_changes: changes, timestamp, event_type: 'price_change' };
      v.say(v.market('5m'), JSON.stringify(frame));
    },
    lastsMs: 0,
    gap: { causes: ['crossed_book'], on: ['5m'], withinMs: 2_000 },
  },
  {
    name: 'a change arrives in an unknown format',
    begin: (v) =>
      rewritten(
        v,
        1,
        (text) => isChange(text) && text.includes(of(v, '5m')),
        (text) => text.replace('"price_changes":[', '"price_changes":[[],'),
      ),
    lastsMs: 2_500,
    gap: { causes: ['frame_rejected'], on: ['5m'], withinMs: 3_000 },
  },
  {
    name: 'prices arrive as numbers for five seconds',
    begin: (v) =>
      rewritten(
        v,
        100_000,
        (text) => isChange(text) && text.includes(of(v, '5m')),
        (text) => text.replaceAll(/"price":"([\d.]+)"/g, '"price":$1'),
      ),
    end: (v) =>
      everyLink(v, (link) => {
        link.tamper = null;
      }),
    lastsMs: 5_000,
    gap: { causes: ['frame_rejected'], on: ['5m'], withinMs: 2_000 },
  },
  {
    name: 'half of a change arrives',
    begin: (v) =>
      rewritten(
        v,
        1,
        (text) => isChange(text) && text.includes(of(v, '5m')),
        (text) => `${text.slice(0, 300)},"event_type":"price_change"`,
      ),
    lastsMs: 2_500,
    gap: { causes: ['frame_rejected'], on: ['5m'], withinMs: 2_000 },
  },
  {
    name: 'a change is stamped in microseconds',
    begin: (v) =>
      rewritten(
        v,
        1,
        (text) => isChange(text) && text.includes(of(v, '5m')),
        (text) => text.replace(/"timestamp":"(\d+)"/, '"timestamp":"$1000"'),
      ),
    lastsMs: 2_500,
    gap: { causes: ['frame_rejected'], on: ['5m'], withinMs: 2_000 },
  },
  {
    name: 'messages of a new kind arrive',
    begin: (v) => v.say(v.market('5m'), '{"event_type":"depth_forecast","market":"0x1"}'),
    lastsMs: 2_000,
  },
  {
    name: 'the tick size changes during a window',
    begin: (v) => {
      const live = v.model.bookOf(v.market('5m'));
      v.model.schedule.at(v.model.nowMs, (atMs) => live?.refineTick(atMs));
    },
    lastsMs: 10_000,
  },
  {
    name: 'one token freezes',
    begin: (v) => v.faults.frozenTokens.add(v.market('5m').facts.upToken),
    end: (v) => v.faults.frozenTokens.clear(),
    lastsMs: 12_000,
    gap: { causes: [...SILENT, 'book_mismatch'], on: ['5m'], withinMs: BUSY_LIMIT_MS },
  },
  {
    name: 'the other token freezes',
    begin: (v) => v.faults.frozenTokens.add(v.market('15m').facts.downToken),
    end: (v) => v.faults.frozenTokens.clear(),
    lastsMs: 12_000,
    gap: { causes: [...SILENT, 'book_mismatch'], on: ['15m'], withinMs: BUSY_LIMIT_MS },
  },
  {
    name: 'one market freezes while the others continue',
    begin: (v) => {
      const { upToken, downToken } = v.market('15m').facts;
      for (const token of [upToken, downToken]) v.faults.frozenTokens.add(token);
    },
    end: (v) => v.faults.frozenTokens.clear(),
    lastsMs: 12_000,
    gap: { causes: SILENT, on: ['15m'], withinMs: BUSY_LIMIT_MS },
  },
];
