import type { Command } from 'commander';
import type { OwnedApiKey } from '../accounts/keys/keys.ts';
import { formatTime } from '../schema/time.ts';
import { type Control, type ControlOptions, parseTier, recordAction, withControl } from './control.ts';
import { formatTable } from './table.ts';

interface CreateOptions extends ControlOptions {
  readonly email: string;
  readonly tier?: string;
  readonly label: string;
}

interface ListOptions extends ControlOptions {
  readonly email?: string;
}

/** `underround keys create|list|revoke`: works while a server runs, and before the first start. */
export function registerKeys(program: Command): void {
  const keys = program.command('keys').description('API keys: create, list, revoke');
  keys
    .command('create')
    .description('create a key and print it, once; creates the user if needed')
    .requiredOption('--email <email>', 'owner of the key')
    .option('--tier <tier>', "also set the user's tier: free, pro, plus or premium")
    .option('--label <label>', 'purpose of the key', 'default')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(create);
  keys
    .command('list')
    .description('list keys, including revoked ones')
    .option('--email <email>', 'only keys of this user')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(list);
  keys
    .command('revoke')
    .description('revoke a key; its next request is refused')
    .argument('<key_id>', 'id from `keys list` (key_...), not the key itself')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(revoke);
}

function create(options: CreateOptions): Promise<void> {
  const run = async (control: Control) => {
    const { database, sources, config, settled } = control;
    const { issueKey } = await import('../accounts/keys/keys.ts');
    const tier = options.tier === undefined ? null : await parseTier(options.tier);
    const wanted = { email: options.email, tier, label: options.label, environment: config.keyEnvironment };
    const { key, record, user } = await issueKey(database, sources, wanted);
    // The tier applies to all keys of the user, so wait until every server applies it.
    if (tier !== null) {
      await recordAction(control, 'set_tier', user, tier);
      await settled();
    }
    if (options.json) {
      const shown = { key_id: record.keyId, key, label: record.label, email: user.email, tier: user.tier };
      console.log(JSON.stringify(shown));
      return;
    }
    console.log(`${key}\n`);
    console.log(
      `This is the only time the key is shown. Id ${record.keyId}, ${user.email}, tier ${user.tier}.`,
    );
  };
  return withControl(options, 'make', run, async () => {
    const [{ normaliseEmail }, { checkLabel }] = await Promise.all([
      import('../accounts/users/users.ts'),
      import('../accounts/keys/keys.ts'),
    ]);
    normaliseEmail(options.email);
    if (options.tier !== undefined) await parseTier(options.tier);
    checkLabel(options.label);
  });
}

function list(options: ListOptions): Promise<void> {
  return withControl(options, 'read', async ({ users, keys }) => {
    const rows = await listOf(options.email);
    console.log(options.json ? JSON.stringify({ keys: rows.map(toJson) }) : toTable(rows));

    async function listOf(email: string | undefined): Promise<OwnedApiKey[]> {
      if (email === undefined) return await keys.list();
      const user = await users.find(email);
      return user ? await keys.list({ userId: user.userId }) : [];
    }
  });
}

function revoke(keyId: string, options: ControlOptions): Promise<void> {
  return withControl(options, 'change', async ({ keys, settled }) => {
    const { revokedMs } = await keys.revoke(keyId);
    await settled();
    const revokedAt = revokedMs === null ? null : formatTime(revokedMs);
    const json = JSON.stringify({ key_id: keyId, revoked_at: revokedAt });
    console.log(options.json ? json : `${keyId} is revoked since ${revokedAt}`);
  });
}

function toJson(key: OwnedApiKey) {
  return {
    key_id: key.keyId,
    label: key.label,
    email: key.email,
    tier: key.tier,
    prefix: key.hint,
    created_at: formatTime(key.createdMs),
    last_used_at: key.lastUsedMs === null ? null : formatTime(key.lastUsedMs),
    revoked_at: key.revokedMs === null ? null : formatTime(key.revokedMs),
  };
}

function toTable(keys: readonly OwnedApiKey[]): string {
  const headings = ['KEY_ID', 'KEY', 'LABEL', 'EMAIL', 'TIER', 'CREATED', 'LAST USED', 'REVOKED'];
  const rows = keys.map(toJson).map((key) => {
    const times = [key.created_at, key.last_used_at, key.revoked_at];
    return [key.key_id, `${key.prefix}...`, key.label, key.email, key.tier, ...times];
  });
  return formatTable(headings, rows);
}
