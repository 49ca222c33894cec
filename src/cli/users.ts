import type { Command } from 'commander';
import type { User } from '../accounts/users.ts';
import { type ControlOptions, parseTier, withControl } from './control.ts';
import { formatTable, formatTime } from './table.ts';

interface TierOptions extends ControlOptions {
  readonly email: string;
  readonly tier: string;
}

/** `underround users create|set-tier|list`: works while a server runs and before one ever ran. */
export function registerUsers(program: Command): void {
  const users = program.command('users').description('users: create, set their tier, list');
  users
    .command('create')
    .description('make a user')
    .requiredOption('--email <email>', 'e-mail address')
    .option('--tier <tier>', 'free, pro, plus or premium', 'free')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(create);
  users
    .command('set-tier')
    .description("set a user's tier; it holds from the next request of each of the user's keys")
    .requiredOption('--email <email>', 'e-mail address')
    .requiredOption('--tier <tier>', 'free, pro, plus or premium')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(setTier);
  users
    .command('list')
    .description('list users')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(list);
}

function create(options: TierOptions): Promise<void> {
  return withControl(options, async ({ users }) => {
    const user = await users.create(options.email, await parseTier(options.tier));
    console.log(options.json ? JSON.stringify(toJson(user)) : toTable([user]));
  });
}

function setTier(options: TierOptions): Promise<void> {
  return withControl(options, async ({ users }) => {
    const user = await users.setTier(options.email, await parseTier(options.tier));
    console.log(options.json ? JSON.stringify(toJson(user)) : toTable([user]));
  });
}

function list(options: ControlOptions): Promise<void> {
  return withControl(options, async ({ users }) => {
    const all = await users.list();
    console.log(options.json ? JSON.stringify({ users: all.map(toJson) }) : toTable(all));
  });
}

function toJson(user: User) {
  return {
    user_id: user.userId,
    email: user.email,
    tier: user.tier,
    created_at: formatTime(user.createdMs),
  };
}

function toTable(users: readonly User[]): string {
  const rows = users.map(toJson).map((user) => [user.user_id, user.email, user.tier, user.created_at]);
  return formatTable(['USER_ID', 'EMAIL', 'TIER', 'CREATED'], rows);
}
