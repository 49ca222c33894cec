import { hash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../control/base62.ts';
import { createToken } from './tokens.ts';
import type { UserRepository } from './users.ts';

/**
 * Who may become a service's first operator: whoever opens the setup link that the process printed. Being the first to
 * find the page is not enough. The token is held in this process's memory alone, so a restart makes another, and of
 * several processes each accepts its own; the database decides between them.
 */
export class OperatorSetup {
  /** Of the setup link; worthless once there is an operator. */
  readonly token: string;
  readonly #users: Pick<UserRepository, 'hasOperator'>;
  #hasOperator = false;

  constructor(users: Pick<UserRepository, 'hasOperator'>, randomBytes: RandomBytes) {
    this.#users = users;
    this.token = createToken(randomBytes);
  }

  /** A service that has had an operator always has one: the database is asked until then, and never again. */
  async hasOperator(): Promise<boolean> {
    this.#hasOperator ||= await this.#users.hasOperator();
    return this.#hasOperator;
  }

  /** Compares in constant time. */
  accepts(token: string): boolean {
    return timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', this.token, 'buffer'));
  }

  /** The page that makes its visitor the operator; null once there is one. @param baseUrl Of the service. */
  async link(baseUrl: string): Promise<string | null> {
    return (await this.hasOperator()) ? null : `${baseUrl}/sign-up?setup=${this.token}`;
  }
}
