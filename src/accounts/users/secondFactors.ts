import { hash } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import { openSecretBox, type SecretBox } from '../../control/secretBox.ts';
import { base32, matchingStep, otpauthUri, TOTP_SECRET_BYTES } from './totp.ts';

const RECOVERY_CODES = 10;
/** 80 random bits, so a plain hash is enough. */
const RECOVERY_CODE_BYTES = 10;

interface NewSecret {
  /** In base32, as typed into an authenticator app. */
  readonly secret: string;
  readonly uri: string;
}

interface SecondFactorState {
  readonly isEnabled: boolean;
  readonly recoveryCodesLeft: number;
}

/** Optional one-time codes (TOTP) beside passwords. */
export class SecondFactors {
  readonly #db: Database;
  readonly #sources: RowSources;
  readonly #box: SecretBox;

  constructor(db: Database, sources: RowSources, box: SecretBox) {
    this.#db = db;
    this.#sources = sources;
    this.#box = box;
  }

  async state(userId: string): Promise<SecondFactorState> {
    const row = await this.#row(userId);
    const isEnabled = row?.enabled_ms != null;
    if (!isEnabled) return { isEnabled, recoveryCodesLeft: 0 };
    const left = await this.#db
      .selectFrom('recovery_codes')
      .select((codes) => codes.fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return { isEnabled, recoveryCodesLeft: left.count };
  }

  /** Creates a secret that becomes active once a code is confirmed; null if one is already enabled. */
  async begin({ userId, email }: { userId: string; email: string }): Promise<NewSecret | null> {
    const secret = Buffer.from(this.#sources.randomBytes(TOTP_SECRET_BYTES));
    const sealed = this.#box.seal(secret.toString('base64'), userId);
    const row = await this.#db
      .insertInto('second_factors')
      .values({ user_id: userId, secret: sealed, enabled_ms: null, last_step: 0 })
      .onConflict((conflict) =>
        conflict
          .column('user_id')
          .doUpdateSet({ secret: sealed })
          .where('second_factors.enabled_ms', 'is', null),
      )
      .returning('user_id')
      .executeTakeFirst();
    return row ? { secret: base32(secret), uri: otpauthUri(email, secret) } : null;
  }

  /**
   * Enables the secret created by `begin`.
   * @returns The recovery codes, of which no other copy exists; null if the code is wrong or no secret was created.
   */
  async confirm(userId: string, code: string): Promise<string[] | null> {
    const row = await this.#row(userId);
    const nowMs = this.#sources.clock.now();
    const step = row && row.enabled_ms === null ? this.#stepOf(row, code, nowMs) : null;
    if (!row || step === null) return null;
    const codes = Array.from({ length: RECOVERY_CODES }, () => this.#recoveryCode());
    return await this.#db.transaction().execute(async (transaction) => {
      const enabled = await transaction
        .updateTable('second_factors')
        .set({ enabled_ms: nowMs, last_step: step })
        .where('user_id', '=', userId)
        .where('secret', '=', row.secret)
        .where('enabled_ms', 'is', null)
        .returning('user_id')
        .executeTakeFirst();
      if (!enabled) return null;
      await transaction.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
      const rows = codes.map((text) => ({ user_id: userId, code_hash: hashCode(text) }));
      await transaction.insertInto('recovery_codes').values(rows).execute();
      return codes;
    });
  }

  /** Whether this is a valid code of the user's app or one of their recovery codes. Each works once, in any process. */
  async use(userId: string, code: string): Promise<boolean> {
    const row = await this.#row(userId);
    if (!row || row.enabled_ms === null) return false;
    const step = this.#stepOf(row, code.trim(), this.#sources.clock.now());
    const used =
      step === null
        ? this.#db
            .deleteFrom('recovery_codes')
            .where('user_id', '=', userId)
            .where('code_hash', '=', hashCode(code))
            .returning('user_id')
        : this.#db
            .updateTable('second_factors')
            .set({ last_step: step })
            .where('user_id', '=', userId)
            .where('last_step', '<', step)
            .returning('user_id');
    return (await used.executeTakeFirst()) !== undefined;
  }

  async remove(userId: string): Promise<void> {
    await removeSecondFactor(this.#db, userId);
  }

  async #row(userId: string) {
    const query = this.#db.selectFrom('second_factors').selectAll();
    return await query.where('user_id', '=', userId).executeTakeFirst();
  }

  /** Also null if the secret cannot be decrypted, because the service's key has changed. Recovery codes still work. */
  #stepOf(row: { user_id: string; secret: string }, code: string, nowMs: number): number | null {
    const secret = this.#box.open(row.secret, row.user_id);
    return secret === null ? null : matchingStep(Buffer.from(secret, 'base64'), code, nowMs);
  }

  #recoveryCode(): string {
    const text = base32(this.#sources.randomBytes(RECOVERY_CODE_BYTES));
    return (text.match(/.{4}/g) as string[]).join('-');
  }
}

/**
 * Opens the second factors with the service's own key.
 * @throws {ConfigError} If `UNDERROUND_SECRET_KEY`, or the key file used without it, contains no key.
 */
export function openSecondFactors(
  db: Database,
  { config, ...sources }: RowSources & { config: Pick<Config, 'secretKey' | 'dataDir'> },
): SecondFactors {
  return new SecondFactors(db, sources, openSecretBox(config, sources.randomBytes));
}

/** The user signs in with the password alone again. @returns Whether there was a second factor to remove. */
export async function removeSecondFactor(db: Database, userId: string): Promise<boolean> {
  await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  const removed = db.deleteFrom('second_factors').where('user_id', '=', userId).returning('user_id');
  return (await removed.executeTakeFirst()) !== undefined;
}

/** Ignores case, spaces and dashes. */
function hashCode(code: string): string {
  return hash('sha256', code.toLowerCase().replaceAll(/[\s-]/g, ''), 'hex');
}
