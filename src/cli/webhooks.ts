import type { Command } from 'commander';
import type { Ticker } from '../schema/market.ts';
import type { WebhookEventName } from '../schema/notification.ts';
import type { PushedTier } from '../schema/opportunity.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import type { Webhooks } from '../webhooks/delivery/webhooks.ts';
import type { Webhook } from '../webhooks/registry/registration.ts';
import { type Control, type ControlAccess, type ControlOptions, withControl } from './control.ts';
import { formatTable } from './table.ts';

interface CreateOptions extends ControlOptions {
  readonly email: string;
  readonly url?: string;
  readonly label: string;
  readonly format: string;
  readonly tiers?: string;
  readonly tickers?: string;
  readonly events?: string;
}

interface UpdateOptions extends ControlOptions {
  readonly label?: string;
  readonly tiers?: string;
  readonly tickers?: string;
  readonly events?: string;
}

interface ListOptions extends ControlOptions {
  readonly email?: string;
}

/**
 * `underround webhooks create|list|update|resume|pause|delete|rotate|test`: works while a server runs; the server
 * applies changes within a second.
 */
export function registerWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks: create, list, update, pause, resume, rotate, test, delete');
  const filtered = (command: Command, absent: string) =>
    command
      .option(
        '--tiers <tiers>',
        `kinds of signals: logical, endgame, or both separated by a comma; all: both (${absent})`,
      )
      .option('--tickers <tickers>', `followed assets, separated by commas; all: every one (${absent})`)
      .option(
        '--events <events>',
        'opportunity, and for operators system.gap, system.disk, system.lag, system.webhook_paused, system.backup',
      );
  const creation = webhooks
    .command('create')
    .description(
      'register a webhook for a Premium user and print its secret, once; reads a URL with a secret from standard input',
    )
    .requiredOption('--email <email>', 'owner of the webhook')
    .option('--url <url>', 'target URL; https only; left out, it is read from standard input')
    .option('--format <format>', 'signed JSON, or a text for people: telegram, discord, slack', 'signed')
    .option('--label <label>', 'purpose of the webhook', 'webhook');
  common(filtered(creation, 'default: all')).action(create);
  common(
    webhooks
      .command('list')
      .description('list webhooks')
      .option('--email <email>', 'only webhooks of this user'),
  ).action(list);
  const ofOne = (name: string, description: string) =>
    common(
      webhooks.command(name).description(description).argument('<webhook_id>', 'id from `webhooks list`'),
    );
  const changing = ofOne('update', 'change label or filters; applies to signals detected from now on');
  filtered(changing.option('--label <label>', 'purpose of the webhook'), 'default: unchanged').action(update);
  ofOne('resume', 'resume a webhook; sends signals detected from now on').action(
    change((id, { registry }) => registry.resume({ webhookId: id })),
  );
  ofOne('pause', 'pause a webhook; pending deliveries are skipped').action(
    change((id, { registry }) => registry.pause({ webhookId: id })),
  );
  ofOne('delete', 'delete a webhook and its delivery log').action(remove);
  ofOne(
    'rotate',
    'create a new secret and print it, once; the old secret also signs for 24 more hours',
  ).action(rotate);
  ofOne('test', 'make the running server send a test event').action(test);
}

function common(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)');
}

function create(options: CreateOptions): Promise<void> {
  return withWebhooks(options, 'change', async ({ registry }, { users, config }) => {
    const user = await users.find(options.email);
    const { InvalidInputError } = await import('../runtime/errors.ts');
    if (!user) throw new InvalidInputError('no user with this e-mail address');
    const { loadTiers, tiersThatDo } = await import('../accounts/users/tiers.ts');
    const tiers = loadTiers(config.tiersFile);
    if (!tiers[user.tier].webhooks) {
      throw new InvalidInputError(
        `tier ${user.tier} does not include webhooks; ${tiersThatDo(tiers, 'webhooks')}`,
      );
    }
    const { WEBHOOK_FORMATS } = await import('../schema/notification.ts');
    const format = WEBHOOK_FORMATS.find((known) => known === options.format);
    if (format === undefined) throw new InvalidInputError(`a format is one of ${WEBHOOK_FORMATS.join(', ')}`);
    const { readSecret } = await import('./readSecret.ts');
    const issued = await registry.create({
      ...{ userId: user.userId, label: options.label, format },
      url: options.url ?? (await readSecret('URL: ')),
      ...{ tiers: null, tickers: null, ...filtersOf(options) },
    });
    if (!issued) throw new InvalidInputError('the user has as many webhooks as a user may; delete one first');
    const { secret, webhook } = issued;
    if (options.json) {
      const { webhookId: webhook_id, url, label, tiers, tickers, state, format } = webhook;
      const shown = { webhook_id, secret, url, label, tiers, tickers, state };
      console.log(JSON.stringify(format === 'signed' ? shown : { ...shown, format }));
      return;
    }
    if (secret === null) {
      console.log(`Id ${webhook.webhookId}, ${webhook.url}. Its URL is not shown again.`);
      return;
    }
    console.log(`${secret}\n`);
    console.log(`This is the only time the secret is shown. Id ${webhook.webhookId}, ${webhook.url}.`);
  });
}

function list(options: ListOptions): Promise<void> {
  return withWebhooks(options, 'read', async ({ registry }, { users }) => {
    const found = await listed(options.email);
    console.log(options.json ? JSON.stringify({ webhooks: found.map(toJson) }) : toTable(found));

    async function listed(email: string | undefined): Promise<Webhook[]> {
      if (email === undefined) return await registry.list();
      const user = await users.find(email);
      return user ? await registry.list({ userId: user.userId }) : [];
    }
  });
}

function update(webhookId: string, options: UpdateOptions): Promise<void> {
  const { label } = options;
  const wanted = { ...(label === undefined ? {} : { label }), ...filtersOf(options) };
  return change(async (id, { registry }) => {
    const { InvalidInputError } = await import('../runtime/errors.ts');
    if (Object.keys(wanted).length === 0) {
      throw new InvalidInputError('nothing to change: give --label, --tiers, --tickers or --events');
    }
    return await registry.update({ webhookId: id }, wanted);
  })(webhookId, options);
}

function change(run: (webhookId: string, webhooks: Webhooks) => Promise<Webhook>) {
  return (webhookId: string, options: ControlOptions): Promise<void> =>
    withWebhooks(options, 'change', async (webhooks) => {
      const webhook = await run(webhookId, webhooks);
      console.log(options.json ? JSON.stringify(toJson(webhook)) : toTable([webhook]));
    });
}

function remove(webhookId: string, options: ControlOptions): Promise<void> {
  return withWebhooks(options, 'change', async ({ registry }) => {
    await registry.delete({ webhookId });
    console.log(options.json ? JSON.stringify({ webhook_id: webhookId }) : `${webhookId} is deleted`);
  });
}

function rotate(webhookId: string, options: ControlOptions): Promise<void> {
  return withWebhooks(options, 'change', async ({ registry }) => {
    const { secret, webhook } = await registry.rotate({ webhookId });
    if (options.json) console.log(JSON.stringify({ ...toJson(webhook), secret }));
    else console.log(`${secret}\n\nThis is the only time the secret is shown.`);
  });
}

function test(webhookId: string, options: ControlOptions): Promise<void> {
  return withWebhooks(options, 'change', async ({ registry, log }) => {
    const webhook = await registry.find({ webhookId });
    const { InvalidInputError } = await import('../runtime/errors.ts');
    if (webhook === null)
      throw new InvalidInputError('no webhook with this id; `webhooks list` shows the ids');
    const deliveryId = await log.sendTest(webhook);
    const words = `the running server sends ${deliveryId}; the dashboard shows its outcome`;
    console.log(options.json ? JSON.stringify({ delivery_id: deliveryId }) : words);
  });
}

function withWebhooks(
  options: ControlOptions,
  access: ControlAccess,
  run: (webhooks: Webhooks, control: Control) => Promise<void>,
): Promise<void> {
  return withControl(options, access, async (control) => {
    const { openWebhooks } = await import('../webhooks/delivery/webhooks.ts');
    await run(openWebhooks(control.database, { ...control, isReader: access === 'read' }), control);
  });
}

/** The filters that were given. The webhook registry validates them. */
function filtersOf({ tiers, tickers, events }: Pick<UpdateOptions, 'tiers' | 'tickers' | 'events'>) {
  return {
    ...(tiers === undefined ? {} : { tiers: listOf(tiers) as PushedTier[] | null }),
    ...(tickers === undefined ? {} : { tickers: listOf(tickers) as Ticker[] | null }),
    ...(events === undefined ? {} : { events: namesIn(events) as WebhookEventName[] }),
  };
}

function listOf(text: string): string[] | null {
  return text.trim() === 'all' ? null : namesIn(text);
}

function namesIn(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function toJson(webhook: Webhook) {
  return {
    ...{ webhook_id: webhook.webhookId, url: webhook.url, label: webhook.label },
    ...{ tiers: webhook.tiers, tickers: webhook.tickers, state: webhook.state },
    ...{ failing: webhook.pauseReason === 'failures', consecutive_failures: webhook.consecutiveFailures },
    ...{ created_at: formatTime(webhook.createdMs), paused_at: formatTimeOrNull(webhook.pausedMs) },
  };
}

function toTable(webhooks: readonly Webhook[]): string {
  const rows = webhooks.map(toJson).map((webhook) => {
    const state = webhook.failing ? 'failing' : webhook.state;
    const filters = [webhook.tiers.join(','), webhook.tickers?.join(',') ?? 'all'];
    return [webhook.webhook_id, webhook.label, webhook.url, ...filters, state, webhook.created_at];
  });
  return formatTable(['WEBHOOK_ID', 'LABEL', 'URL', 'TIERS', 'TICKERS', 'STATE', 'CREATED'], rows);
}
