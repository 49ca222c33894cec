import type { Command } from 'commander';
import type { User } from '../accounts/users/users.ts';
import { formatTime } from '../schema/time.ts';
import { type Control, type ControlOptions, parseTier, recordAction, withControl } from './control.ts';
import { readSecret } from './readSecret.ts';
import { formatTable } from './table.ts';

interface UserOptions extends ControlOptions {
  readonly email: string;
}

interface TierOptions extends UserOptions {
  readonly tier: string;
}

/**
 * `underround users create|set-tier|set-operator|reset-totp|suspend|unsuspend|set-password|list`: works while a server
 * runs, and before the first start.
 */
export function registerUsers(program: Command): void {
  const users = program
    .command('users')
    .description('user accounts: create, list, suspend, set tier, password or operator');
  const ofUser = (name: string, description: string) =>
    common(
      users
        .command(name)
        .description(description)
        .requiredOption('--email <email>', 'e-mail address of the user'),
    );
  ofUser('create', 'create a user; `users set-password` enables sign-in')
    .option('--tier <tier>', 'free, pro, plus or premium', 'free')
    .action(create);
  ofUser('set-tier', "set a user's tier; it applies from the next request of each of their keys")
    .requiredOption('--tier <tier>', 'free, pro, plus or premium')
    .action(setTier);
  ofUser('suspend', 'suspend a user: their sessions end and their keys are refused').action(
    (options: UserOptions) => setSuspended(options, true),
  );
  ofUser('unsuspend', "end a suspension; the user's keys work again").action((options: UserOptions) =>
    setSuspended(options, false),
  );
  ofUser('set-password', "set a user's password, read from standard input; ends all their sessions").action(
    setPassword,
  );
  common(
    users
      .command('set-operator <email>')
      .description('make an existing user the operator; replaces the current one'),
  ).action(setOperator);
  common(
    users
      .command('reset-totp <email>')
      .description('disable one-time codes for a user who lost the authenticator app'),
  ).action(resetTotp);
  common(users.command('list').description('list users')).action(list);
}

function common(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)');
}

function create(options: TierOptions): Promise<void> {
  const run = async ({ users }: Control) => {
    show(options, await users.create(options.email, await parseTier(options.tier)));
  };
  return withControl(options, 'make', run, async () => {
    const { normaliseEmail } = await import('../accounts/users/users.ts');
    normaliseEmail(options.email);
    await parseTier(options.tier);
  });
}

function setTier(options: TierOptions): Promise<void> {
  return withControl(options, 'change', async (control) => {
    const user = await control.users.setTier(options.email, await parseTier(options.tier));
    await recordAction(control, 'set_tier', user, user.tier);
    await control.settled();
    show(options, user);
  });
}

function setOperator(email: string, options: ControlOptions): Promise<void> {
  return withControl(options, 'change', async (control) => {
    const user = await control.users.setOperator(email);
    await recordAction(control, 'set_operator', user);
    await control.settled();
    show(options, user);
  });
}

function resetTotp(email: string, options: ControlOptions): Promise<void> {
  return withControl(options, 'change', async (control) => {
    const { removeSecondFactor } = await import('../accounts/users/secondFactors.ts');
    const { InvalidInputError } = await import('../runtime/errors.ts');
    const user = await control.users.find(email);
    if (!user) throw new InvalidInputError('no user with this e-mail address');
    if (!(await removeSecondFactor(control.database, user.userId))) {
      throw new InvalidInputError('this user has no one-time codes');
    }
    await recordAction(control, 'reset_totp', user);
    show(options, user);
  });
}

function setSuspended(options: UserOptions, suspended: boolean): Promise<void> {
  return withControl(options, 'change', async (control) => {
    const user = await control.users.update(options, { suspended });
    await recordAction(control, suspended ? 'suspend' : 'unsuspend', user);
    await control.settled();
    show(options, user);
  });
}

function setPassword(options: UserOptions): Promise<void> {
  return withControl(options, 'change', async (control) => {
    const { Passwords, checkPassword } = await import('../accounts/users/passwords.ts');
    const { normaliseEmail } = await import('../accounts/users/users.ts');
    const password = checkPassword(await readSecret('New password: '), normaliseEmail(options.email));
    const user = await control.users.setPassword(options, await new Passwords().hash(password));
    await recordAction(control, 'set_password', user);
    show(options, user);
  });
}

function list(options: ControlOptions): Promise<void> {
  return withControl(options, 'read', async ({ users }) => {
    const all = await users.list();
    console.log(options.json ? JSON.stringify({ users: all.map(toJson) }) : toTable(all));
  });
}

function show(options: ControlOptions, user: User): void {
  console.log(options.json ? JSON.stringify(toJson(user)) : toTable([user]));
}

function toJson({ userId, email, tier, operator, suspended, createdMs }: User) {
  return { user_id: userId, email, tier, operator, suspended, created_at: formatTime(createdMs) };
}

function toTable(users: readonly User[]): string {
  const rows = users.map((user) => {
    const state = user.suspended ? 'suspended' : user.operator ? 'operator' : 'active';
    return [user.userId, user.email, user.tier, state, formatTime(user.createdMs)];
  });
  return formatTable(['USER_ID', 'EMAIL', 'TIER', 'STATE', 'CREATED'], rows);
}
