import { expect, it } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { AuditLog } from '../signals/auditLog.ts';
import { registerAudit } from './audit.ts';

const { run, json, dataDir } = commandLine(registerAudit);
const open = () => openControlDatabase({ dataDir: dataDir(), databaseUrl: null });

it('verify proves a whole log, also up to an earlier head, and exits with 1 once a row was changed', async () => {
  const db = await open();
  const log = new AuditLog(db, new FakeClock());
  await log.detected(detection({ marketId: '0x1' }));
  const { seq, hash } = await json('audit', 'head');
  await log.detected(detection({ marketId: '0x2' }));
  expect(seq).toBe(1);
  const { hash: newest } = await json('audit', 'head');
  const whole = {
    out: [`audit unchanged: 2 signals in 2 entries, head ${newest}`],
    err: [],
    exit: undefined,
  };
  expect(await run('audit', 'verify')).toEqual(whole);
  expect(await run('audit', 'verify', '--head', hash)).toEqual(whole);
  const unknown = await run('audit', 'verify', '--head', 'f'.repeat(64));
  expect([unknown.exit, unknown.out[0]?.slice(0, 13)]).toEqual([1, 'audit CHANGED']);
  await db.updateTable('audit_rows').set({ ticker: 'ETH' }).where('seq', '=', 2).execute();
  await db.destroy();
  const changed = await run('audit', 'verify');
  expect(changed.exit).toBe(1);
  expect(changed.out[0]).toMatch(/^audit CHANGED at entry 2, /);
  expect(JSON.parse((await run('audit', 'verify', '--json')).out[0] ?? '')).toMatchObject({
    ...{ ok: false, entries: 2, fault: { seq: 2 } },
  });
});
