/** Request body fields shared by several dashboard routes. */
import { checkLabel, MAX_LABEL_LENGTH } from '../../accounts/keys/keys.ts';
import { checkPassword, PASSWORD_MAX, PASSWORD_MIN } from '../../accounts/users/passwords.ts';
import { normaliseEmail } from '../../accounts/users/users.ts';
import { invalid } from '../../http/refusal.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { jsonText, MASK, optionalMember, requiredMember, secretMember } from '../../schema/api/body.ts';
import { Invalid, type Type, text } from '../../schema/api/types.ts';

/** Normalised on reading, so that limits and look-ups see one mailbox however it is typed. */
export const email = requiredMember(
  jsonText(checked({ type: 'string', format: 'email' }, normaliseEmail)),
  'E-mail address',
);
export const label = requiredMember(
  jsonText(checked({ type: 'string', minLength: 1, maxLength: MAX_LABEL_LENGTH }, checkLabel)),
  'Purpose of the key',
);
/** As the user typed it. A length limit alone tells an attacker nothing. */
export const password = secretMember(jsonText(text({ maxLength: PASSWORD_MAX })), 'Password');
export const newPassword = secretMember(
  jsonText(text({ minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX })),
  'Password',
);

/** Longest accepted token of a setup or sign-in link; real tokens are shorter. */
const SETUP_MAX = 128;
export const setup = {
  ...optionalMember(
    jsonText(text({ maxLength: SETUP_MAX })),
    'Token of the setup link; the first sign-up needs it',
  ),
  secret: true,
};

/** Token of a sign-in link. */
export const linkToken = secretMember(
  jsonText(text({ maxLength: SETUP_MAX })),
  'Token of the sign-in link; it works once',
);

/** Longest accepted one-time or recovery code. */
const CODE_MAX = 64;
export const code = secretMember(jsonText(text({ maxLength: CODE_MAX })), 'Code of the authenticator app');
export const optionalCode = {
  ...optionalMember(
    jsonText(text({ maxLength: CODE_MAX })),
    'Code of the authenticator app, or a recovery code; required if one-time codes are enabled',
  ),
  secret: true,
};

/** A text that our own function validates. Its error reads like that of a custom Pydantic validator. */
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
 * Refuses a new password that is easily guessed; the error names its field.
 * @param wanted The password under its field name.
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
