import { hash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../control/base62.ts';
import { createToken } from './tokens.ts';
import type { UserRepository } from './users.ts';

/**
 * Decides who may become a service's first operator: the visitor of the setup link that the process printed. Finding
 * the page first is not enough. The token is kept only in this process's memory, so a restart creates another. Each of
 * several processes accepts its own token, and the database admits only one operator.
 */
export class OperatorSetup {
  /** Token of the setup link; invalid once an operator exists. */
  readonly token: string;
  readonly #users: Pick<UserRepository, 'hasOperator'>;
  #hasOperator = false;

  constructor(users: Pick<UserRepository, 'hasOperator'>, randomBytes: RandomBytes) {
    this.#users = users;
    this.token = createToken(randomBytes);
  }

  /** Once a service has an operator, it always has one. So the database is queried only until then. */
  async hasOperator(): Promise<boolean> {
    this.#hasOperator ||= await this.#users.hasOperator();
    return this.#hasOperator;
  }

  /** Compares in constant time. */
  accepts(token: string): boolean {
    return timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', this.token, 'buffer'));
  }

  /** URL of the page that makes its visitor the operator; null once one exists. @param baseUrl URL of the service. */
  async link(baseUrl: string): Promise<string | null> {
    return (await this.hasOperator()) ? null : `${baseUrl}/sign-up?setup=${this.token}`;
  }
}
