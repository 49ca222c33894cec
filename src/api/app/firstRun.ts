import { signUpStateShape } from '../../schema/api/accountResources.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, route } from '../route.ts';

/** Users looked through at a time; the operator is the oldest but for those made on the command line before. */
const PAGE = 50;

/** Whether there is anybody to sign in as, so that the first to open a service is led to sign up. */
export function firstRunRoute({ control }: Pick<ApiParts, 'control'>): Route {
  // An operator stays one: the store is asked until there is one, and never again.
  let hasOperator = false;
  return route({
    method: 'GET',
    path: '/app/sign-up',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Whether the service has its operator; where it has none, the next to sign up is',
    response: signUpStateShape,
    handle: async () => {
      hasOperator ||= await someoneOperates(control.users);
      return { body: JSON.stringify({ has_operator: hasOperator }) };
    },
  });
}

async function someoneOperates(users: Pick<ApiParts['control']['users'], 'page'>): Promise<boolean> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await users.page({ limit: PAGE, offset });
    if (page.some(({ operator }) => operator)) return true;
    if (page.length < PAGE) return false;
  }
}
