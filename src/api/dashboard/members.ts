/** Members of request bodies that mean the same on every dashboard route that has them. */
import { checkLabel, MAX_LABEL_LENGTH } from '../../accounts/keys/keys.ts';
import { checkPassword, PASSWORD_MAX, PASSWORD_MIN } from '../../accounts/users/passwords.ts';
import { normaliseEmail } from '../../accounts/users/users.ts';
import { invalid } from '../../http/refusal.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { jsonText, MASK, optionalMember, requiredMember, secretMember } from '../../schema/api/body.ts';
import { Invalid, type Type, text } from '../../schema/api/types.ts';

/** Normalised as it is read, so that limits and look-ups mean one mailbox however it is typed. */
export const email = requiredMember(
  jsonText(checked({ type: 'string', format: 'email' }, normaliseEmail)),
  'E-mail address',
);
export const label = requiredMember(
  jsonText(checked({ type: 'string', minLength: 1, maxLength: MAX_LABEL_LENGTH }, checkLabel)),
  'What the key is for',
);
/** As the user typed it; a bound on it alone would tell nothing to who tries one. */
export const password = secretMember(jsonText(text({ maxLength: PASSWORD_MAX })), 'Password');
export const newPassword = secretMember(
  jsonText(text({ minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX })),
  'Password',
);

/** Of a setup or sign-in link; longer than any token is. */
const SETUP_MAX = 128;
export const setup = {
  ...optionalMember(
    jsonText(text({ maxLength: SETUP_MAX })),
    'Token of the setup link; the first sign-up needs it',
  ),
  secret: true,
};

/** Of a sign-in link. */
export const linkToken = secretMember(
  jsonText(text({ maxLength: SETUP_MAX })),
  'Token of the sign-in link; it works once',
);

/** Of an authenticator app, or a recovery code. */
const CODE_MAX = 64;
export const code = secretMember(jsonText(text({ maxLength: CODE_MAX })), 'Code of the authenticator app');
export const optionalCode = {
  ...optionalMember(
    jsonText(text({ maxLength: CODE_MAX })),
    'Code of the authenticator app, or a recovery code; needed where one-time codes are enabled',
  ),
  secret: true,
};

/** A text that a rule of our own reads; worded as Pydantic words what a validator of its user refuses. */
export function checked(
  schema: Readonly<Record<string, unknown>>,
  read: (text: string) => string,
): Type<string> {
  return {
    schema,
    parse(value) {
      try {
        return read(value);
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
        return new Invalid({ type: 'value_error', msg: `Value error, ${error.message}`, ctx: { error: {} } });
      }
    },
  };
}

/**
 * Refuses a new password that is easily guessed, beside its member.
 * @param wanted Holds it under the member's name.
 * @throws {RequestRefusedError} 422.
 */
export function checkNewPassword(wanted: Readonly<Record<string, string>>, emailAddress: string): void {
  for (const [name, value] of Object.entries(wanted)) {
    try {
      checkPassword(value, emailAddress);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      const problem = { type: 'value_error', msg: `Value error, ${error.message}`, ctx: { error: {} } };
      throw invalid([{ ...problem, loc: ['body', name], input: MASK }]);
    }
  }
}
