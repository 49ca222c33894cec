import type { Accounts } from '../../accounts/accounts.ts';
import type { RateLimits } from '../../accounts/limits/limits.ts';
import type { User, UserWithPassword } from '../../accounts/users/users.ts';
import { codeRequired, conflict, forbidden, RequestRefusedError, unauthorized } from '../../http/refusal.ts';
import { type Answer, type Client, type Route, route } from '../../http/route.ts';
import { setSessionCookies } from '../../http/sessionCookie.ts';
import type { Clock } from '../../runtime/clock.ts';
import { currentUserShape } from '../../schema/api/accountResources.ts';
import { provenPasswordHash } from './currentPassword.ts';
import { type FirstRunDependencies, roleOfNext, setupLinkUsed } from './firstRun.ts';
import { checkNewPassword, email, linkToken, newPassword, optionalCode, password, setup } from './members.ts';
import { type SecondFactorDependencies, secondFactorRoutes } from './secondFactor.ts';
import { signedIn } from './signedIn.ts';
import { SignInAttempts } from './signInAttempts.ts';

interface SignInDependencies extends SecondFactorDependencies, FirstRunDependencies {
  readonly control: Pick<Accounts, 'users' | 'setup' | 'links' | 'sessions' | 'passwords' | 'events'>;
  readonly clock: Clock;
  readonly rateLimits: RateLimits | null;
}

const LINK_INVALID = 'This sign-in link was used or is too old; sign in with e-mail address and password';
const CODE_NEEDED = 'A code of the authenticator app, or a recovery code, is needed';

/** Signing up, in and out, who one is, and another password. */
export function signInRoutes(parts: SignInDependencies): Route[] {
  const attempts = new SignInAttempts(parts);
  return [
    signUpRoute(parts, attempts),
    signInRoute(parts, attempts),
    signInLinkRoute(parts, attempts),
    route({
      method: 'POST',
      path: '/app/sign-out',
      auth: 'session',
      access: { feature: null, duringMaintenance: true },
      summary: 'End this session',
      success: 204,
      response: null,
      handle: async (request) => {
        const { user, sessionId } = signedIn(request);
        await parts.control.sessions.end(user.userId, sessionId);
        return { status: 204, headers: cookie(null, request.client), body: '' };
      },
    }),
    route({
      method: 'GET',
      path: '/app/me',
      auth: 'session',
      access: { feature: null, duringMaintenance: true },
      summary: 'The signed-in user',
      response: currentUserShape,
      handle: (request) => ({ body: userText(signedIn(request).user) }),
    }),
    passwordRoute(parts, attempts),
    ...secondFactorRoutes(parts, attempts),
  ];
}

function signInRoute(parts: SignInDependencies, attempts: SignInAttempts): Route {
  return route({
    method: 'POST',
    path: '/app/sign-in',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Sign in: starts a session and ends the browser’s previous one',
    description:
      'If the user has enabled one-time codes, a right password without a valid `code` gets 401 with `X-Second-Factor: required`.',
    body: { email, password, code: optionalCode },
    response: currentUserShape,
    refusals: [401, 403, 429],
    beforeBody: attempts.beforeBody,
    handle: async ({ body, client }) => {
      await attempts.tryAccount({ address: client.address, email: body.email });
      const { users, passwords, events } = parts.control;
      const refuse = async (reason: string, refusal: RequestRefusedError) => {
        await events.record({ action: 'sign_in', email: body.email, address: client.address, reason });
        throw refusal;
      };
      const known = await users.findWithPassword({ email: body.email });
      // Verified even for an unknown user, so that the response time does not reveal whether an account exists.
      const passwordHash = known?.passwordHash ?? null;
      const right = await passwords.verify(passwordHash, body.password);
      const wrong = unauthorized('Wrong e-mail address or password');
      if (!known || passwordHash === null || !right) return await refuse(whyWrong(known), wrong);
      if (known.suspended) return await refuse('the user is suspended', forbidden('This user is suspended'));
      const { isEnabled } = await parts.secondFactors.state(known.userId);
      if (isEnabled && body.code === null) return await refuse('code missing', codeRequired(CODE_NEEDED));
      if (isEnabled && body.code !== null && !(await parts.secondFactors.use(known.userId, body.code))) {
        return await refuse('wrong code', codeRequired('The code is wrong or was used'));
      }
      const begun = await beginVerified(parts, client, { user: known, passwordHash });
      if (begun === null)
        return await refuse('the password was changed, or the user suspended, meanwhile', wrong);
      await attempts.succeeded({ address: client.address, email: body.email });
      await events.record({ action: 'sign_in', email: body.email, address: client.address });
      return begun;
    },
  });
}

function signInLinkRoute(parts: SignInDependencies, attempts: SignInAttempts): Route {
  return route({
    method: 'POST',
    path: '/app/sign-in-link',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Sign in with a link printed by the service; a link works once',
    body: { link: linkToken },
    response: currentUserShape,
    refusals: [403, 429],
    beforeBody: attempts.beforeBody,
    handle: async ({ body, client }) => {
      const { users, links, events } = parts.control;
      const userId = links.use(body.link);
      const user = userId === null ? null : await users.findWithPassword({ userId });
      // A link replaces the password but not a one-time code, which the user may have enabled since.
      const isEnough = user !== null && !(await parts.secondFactors.state(user.userId)).isEnabled;
      const about = { action: 'sign_in', email: user?.email ?? null, address: client.address } as const;
      if (!isEnough || user.suspended) {
        await events.record({ ...about, reason: LINK_INVALID });
        throw forbidden(LINK_INVALID);
      }
      await events.record({ ...about, detail: 'sign-in link' });
      return await begin(parts, client, user);
    },
  });
}

function signUpRoute(parts: SignInDependencies, attempts: SignInAttempts): Route {
  return route({
    method: 'POST',
    path: '/app/sign-up',
    auth: 'none',
    access: { feature: null },
    summary: 'Create an account and sign in; the first account is the operator and requires the setup link',
    body: { email, password: newPassword, setup },
    response: currentUserShape,
    refusals: [403, 409, 429],
    beforeBody: attempts.beforeBody,
    handle: async ({ body, client }) => {
      await attempts.signUp(client.address);
      checkNewPassword({ password: body.password }, body.email);
      const { users, passwords, events } = parts.control;
      const note = (reason: string | null, detail: string | null = null) =>
        events.record({ action: 'sign_up', email: body.email, address: client.address, reason, detail });
      const refuse = async (refusal: RequestRefusedError) => {
        await note(refusal.message);
        throw refusal;
      };
      const role = await roleOfNext(parts, body.setup);
      if (role instanceof RequestRefusedError) return await refuse(role);
      const passwordHash = await passwords.hash(body.password);
      const user =
        role === 'operator'
          ? await users.signUpOperator(body.email, passwordHash)
          : await users.signUp(body.email, passwordHash);
      if (user === 'operator_exists') return await refuse(setupLinkUsed());
      if (user === null || user === 'email_taken') {
        return await refuse(conflict('A user with this e-mail address exists already'));
      }
      await note(null, role);
      return await begin(parts, client, user);
    },
  });
}

function passwordRoute(parts: SignInDependencies, attempts: SignInAttempts): Route {
  return route({
    method: 'POST',
    path: '/app/password',
    auth: 'session',
    access: { feature: null },
    summary: 'Change the password; ends all other sessions of the user',
    body: { current_password: password, new_password: newPassword },
    response: currentUserShape,
    beforeBody: attempts.beforeBody,
    handle: async (request) => {
      const { user } = signedIn(request);
      const { body, client } = request;
      await attempts.tryAccount({ address: client.address, email: user.email });
      checkNewPassword({ new_password: body.new_password }, user.email);
      const { users, passwords, events } = parts.control;
      const note = (reason: string | null) =>
        events.record({ action: 'change_password', email: user.email, address: client.address, reason });
      const from = await provenPasswordHash(parts.control, user, body.current_password);
      const to = from === null ? null : await passwords.hash(body.new_password);
      // Someone else who knows the old password may change it at the same time.
      const isChanged =
        from !== null && to !== null && (await users.replacePassword(user.userId, { from, to }));
      if (!isChanged) {
        await note('wrong current password');
        throw forbidden('The current password is wrong');
      }
      await note(null);
      return await begin(parts, client, user);
    },
  });
}

/** Shown to the operator only: the client learns just that the sign-in failed. */
function whyWrong(known: UserWithPassword | null): string {
  if (!known) return 'unknown e-mail address';
  return known.passwordHash === null ? 'the user has no password' : 'wrong password';
}

/** A new session, whatever the browser had before. */
async function begin(parts: SignInDependencies, client: Client, user: User): Promise<Answer> {
  await endPrevious(parts, client);
  const { token } = await parts.control.sessions.create({ userId: user.userId, ...client });
  return { headers: cookie(token, client), body: userText(user) };
}

/** A new session, or null if the password or the user's right to sign in has changed since the password was verified. */
async function beginVerified(
  parts: SignInDependencies,
  client: Client,
  { user, passwordHash }: { user: User; passwordHash: string },
): Promise<Answer | null> {
  await endPrevious(parts, client);
  const issued = await parts.control.sessions.signIn({ userId: user.userId, passwordHash, ...client });
  if (issued === null) return null;
  return { headers: cookie(issued.token, client), body: userText(user) };
}

/** Ends the session that the browser had: a token from before a sign-in must not be worth anything after it. */
async function endPrevious({ control: { sessions } }: SignInDependencies, client: Client): Promise<void> {
  const before = client.sessionToken === null ? null : await sessions.find(client.sessionToken);
  if (before) await sessions.end(before.user.userId, before.sessionId);
}

function cookie(token: string | null, { cookies }: Client): Record<string, string[]> {
  return { 'set-cookie': setSessionCookies(token, cookies) };
}

function userText({ userId, email, tier, operator }: User): string {
  return JSON.stringify({ user: { user_id: userId, email, tier, operator } });
}
