import { ALL, ANY_LIMIT_MS, BUSY, BUSY_LIMIT_MS, lane, lanes, type ScriptedFault, SILENT } from './script.ts';

export const CONNECTION_FAULTS: readonly ScriptedFault[] = [
  {
    name: 'every connection drops',
    begin: (v) => v.closeAll(1006),
    lastsMs: 0,
    gap: { causes: ['disconnected'], on: ALL, withinMs: 100 },
  },
  {
    name: 'the venue ends every connection: slow consumer (1013)',
    begin: (v) => v.closeAll(1013),
    lastsMs: 0,
    gap: { causes: ['disconnected'], on: ALL, withinMs: 100 },
  },
  {
    name: 'the venue claims that all current markets are resolved (1000)',
    begin: (v) => v.closeAll(1000),
    lastsMs: 0,
    gap: { causes: ['disconnected'], on: ALL, withinMs: 100 },
  },
  {
    name: 'connections drop, and none is accepted for 20 s',
    begin: (v) => {
      v.network.refusal = 0;
      v.closeAll(1006);
    },
    end: (v) => {
      v.network.refusal = null;
    },
    lastsMs: 20_000,
    gap: { causes: ['disconnected'], on: ALL, withinMs: 100 },
  },
  {
    name: 'connections drop, and handshakes are answered 502 for 20 s',
    begin: (v) => {
      v.network.refusal = 502;
      v.closeAll(1006);
    },
    end: (v) => {
      v.network.refusal = null;
    },
    lastsMs: 20_000,
    gap: { causes: ['disconnected'], on: ALL, withinMs: 100 },
  },
  {
    name: 'every connection is half-open: it delivers nothing and never closes',
    begin: (v) => {
      v.faults.halfOpen = true;
    },
    end: (v) => {
      v.faults.halfOpen = false;
    },
    lastsMs: 15_000,
    gap: { causes: SILENT, on: BUSY, withinMs: BUSY_LIMIT_MS },
  },
  {
    name: 'half-open for a hundred seconds',
    begin: (v) => {
      v.faults.halfOpen = true;
    },
    end: (v) => {
      v.faults.halfOpen = false;
    },
    lastsMs: 100_000,
    gap: { causes: SILENT, on: BUSY, withinMs: BUSY_LIMIT_MS },
  },
  {
    name: 'every connection answers PING and delivers nothing else',
    begin: (v) => {
      v.faults.silentStall = true;
    },
    end: (v) => {
      v.faults.silentStall = false;
    },
    lastsMs: 15_000,
    gap: { causes: SILENT, on: BUSY, withinMs: BUSY_LIMIT_MS },
  },
  {
    name: 'a quiet series’ only connection freezes',
    begin: (v) => {
      for (const link of v.linksOf(v.market('1h'))) link.isFrozen = true;
    },
    lastsMs: 12_000,
    gap: { causes: SILENT, on: ['1h'], withinMs: ANY_LIMIT_MS },
  },
  {
    name: 'PONG arrives 11 s late',
    begin: (v) => {
      v.faults.pongDelayMs = 11_000;
    },
    lastsMs: 40_000,
  },
  {
    name: 'both connections of a busy series die within half a second',
    begin: (v) => {
      const [a, b] = lanes(v);
      a?.cut(1006);
      v.clock.after(120, () => b?.cut(1006));
    },
    lastsMs: 500,
    gap: { causes: ['disconnected'], on: ['5m'], withinMs: 300 },
  },
];

export const TWIN_FAULTS: readonly ScriptedFault[] = [
  { name: 'one of two connections dies', begin: (v) => lane(v, 0).cut(1006), lastsMs: 3_000 },
  { name: 'the other of two connections dies', begin: (v) => lane(v, 1).cut(1013), lastsMs: 3_000 },
  {
    name: 'one of two connections freezes',
    begin: (v) => {
      lane(v, 0).isFrozen = true;
    },
    lastsMs: 15_000,
  },
  {
    name: 'one of two connections is half-open',
    begin: (v) => {
      lane(v, 1).isDead = true;
    },
    lastsMs: 15_000,
  },
  {
    name: 'one of two connections lags by two seconds',
    begin: (v) => {
      lane(v, 1).delayMs = 2_000;
    },
    lastsMs: 10_000,
  },
  {
    name: 'one of two connections loses forty frames, and the other is 200 ms behind',
    begin: (v) => {
      lane(v, 1).delayMs = 200;
      v.clock.after(1_000, () => {
        lane(v, 0).losesNext = 40;
      });
    },
    lastsMs: 5_000,
  },
  {
    name: 'the two connections die in turn, ten seconds apart',
    begin: (v) => {
      lane(v, 0).cut(1006);
      v.clock.after(10_000, () => lane(v, 0).cut(1006));
    },
    lastsMs: 14_000,
  },
];
