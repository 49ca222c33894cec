import { it } from 'vitest';
import { InterruptedMerge } from '../../../test/support/numberedStream.ts';
import { T0, TwoCollectors } from '../../../test/support/twoCollectors.ts';

it('debug', async () => {
  const [name, seed, marketId, at, before, after] = (process.env.DBG ?? '').split('|');
  const SC: any = {
    'lost connections': { disconnect: 0.03 },
    'lost frames': { loseFrame: 0.05, lateTrade: 0.3 },
    kills: { kill: 0.02 },
    stalls: { stall: 0.05 },
    partitions: { partition: 0.02 },
    'long partitions': { partition: 0.01, partitionMsMax: 240_000, disconnect: 0.01 },
    'all faults': {
      kill: 0.01,
      disconnect: 0.01,
      loseFrame: 0.02,
      stall: 0.02,
      partition: 0.01,
      lateTrade: 0.3,
    },
  };
  const model = new TwoCollectors(`${name} ${seed}`, { faults: [SC[name!], SC[name!]] });
  await model.run(150);
  const m = new InterruptedMerge();
  const lo = Number(at) - Number(before ?? 3000),
    hi = Number(at) + Number(after ?? 3000);
  const lines: string[] = [];
  const tv = model.venue.find((v) => v.market.marketId.startsWith('0x' + marketId))!;
  for (const [t, h] of tv.truth) if (t >= lo && t <= hi) lines.push(`truth ${t - T0} ${h}`);
  for (const p of model.stream.placed) {
    const out = m.step(p);
    const { message: x, place } = p;
    if (place.timeMs < lo || place.timeMs > hi) continue;
    const b: any = x.body;
    if (x.kind !== 'alive' && !JSON.stringify(b).includes('0x' + marketId)) continue;
    const r = b.book ?? b.quote ?? b;
    const show =
      x.kind === 'action'
        ? `${b.book ? 'B' : ''}${b.quote ? 'Q' : ''} ev=${r.eventTimeMs - T0} rc=${r.receivedTimeMs - T0} tr=${r.trusted} ${b.ladderHash}`
        : x.kind === 'gap'
          ? `${b.gapId.slice(0, 9)} ${b.cause} ${b.startTimeMs - T0}/${b.startReceivedMs - T0} .. ${b.endTimeMs && b.endTimeMs - T0}/${b.endReceivedMs && b.endReceivedMs - T0}`
          : x.kind === 'proven'
            ? `ev=${r.eventTimeMs - T0} rc=${r.receivedTimeMs - T0}`
            : '';
    const o = out
      .filter((e: any) => e.record.marketId?.startsWith('0x' + marketId))
      .map((e: any) =>
        e.kind === 'gap'
          ? `GAP ${e.record.gapId.slice(0, 9)} ${e.record.startTimeMs - T0}/${e.record.startReceivedMs - T0} .. ${e.record.endTimeMs && e.record.endTimeMs - T0}/${e.record.endReceivedMs && e.record.endReceivedMs - T0} ${e.record.repairedBy}`
          : `${e.kind}${e.isLate ? ' late' : ''} ${e.record.trusted}`,
      );
    if (x.kind === 'alive' && o.length === 0) continue;
    lines.push(
      `${place.streamSeq} t=${place.timeMs - T0} ${x.sender.slice(-1)}/${x.run} ${x.kind} ${show}   => ${o.join('; ')}`,
    );
  }
  console.log(lines.join('\n'));
});
