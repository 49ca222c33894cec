import type { Command } from 'commander';
import { InvalidInputError } from '../runtime/errors.ts';
import { type ControlOptions, withControl } from './control.ts';

/** A hash as `audit head` prints it. */
const HEAD = /^[0-9a-f]{64}$/;

interface VerifyOptions extends ControlOptions {
  readonly head?: string;
}

/** `underround audit verify|head`: works while a server runs. */
export function registerAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description('signal audit log: verify its hash chain or print its newest hash');
  const command = (name: string, description: string) =>
    audit
      .command(name)
      .description(description)
      .option('--json', 'print JSON')
      .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)');
  command(
    'verify',
    'check that no entry was changed, removed, inserted or moved; on a fault, print the first one and exit 1',
  )
    .option('--head <hash>', 'a hash printed earlier by `audit head`; it must be in the chain')
    .action(verify);
  command('head', 'print the newest hash; a copy kept elsewhere proves every entry up to it').action(head);
}

function verify(options: VerifyOptions): Promise<void> {
  return withControl(options, 'read', async ({ database }) => {
    // Without this check, a mistyped hash would be reported as a changed audit log.
    if (options.head !== undefined && !HEAD.test(options.head)) {
      throw new InvalidInputError(`--head ${JSON.stringify(options.head)} must be 64 hexadecimal digits`);
    }
    const { verifyAudit } = await import('../signals/auditVerify.ts');
    const known = options.head === undefined ? {} : { knownHash: options.head };
    const { ok, entries, rows, head: hash, fault } = await verifyAudit(database, known);
    if (!ok) process.exitCode = 1;
    if (options.json) {
      console.log(JSON.stringify({ ok, entries, rows, head: hash, fault }));
    } else if (fault === null) {
      console.log(`audit unchanged: ${rows} signals in ${entries} entries, head ${hash}`);
    } else {
      const place = [fault.seq === null ? [] : `entry ${fault.seq}`, fault.auditId ?? []].flat().join(', ');
      console.log(`audit CHANGED${place === '' ? '' : ` at ${place}`}: ${fault.reason}`);
    }
  });
}

function head(options: ControlOptions): Promise<void> {
  return withControl(options, 'read', async ({ database }) => {
    const { readHead } = await import('../signals/auditChain.ts');
    const { seq, hash } = await readHead(database);
    console.log(options.json ? JSON.stringify({ seq, hash }) : `${hash}  after ${seq} entries`);
  });
}
