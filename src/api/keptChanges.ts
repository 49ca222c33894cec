import type { Accounts } from '../accounts/accounts.ts';
import type { Route } from '../http/route.ts';

export interface KeptChangesDependencies {
  readonly control: Pick<Accounts, 'kept'>;
}

/** The same route, which answers a change only when no power loss undoes it. */
export function withKeptChanges(declared: Route, { control }: KeptChangesDependencies): Route {
  if (declared.method === 'GET') return declared;
  return {
    ...declared,
    handle: async (request) => {
      const answer = await declared.handle(request);
      await control.kept();
      return answer;
    },
  };
}
